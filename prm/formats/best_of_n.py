"""Pools for best-of-N: JSON Lines with one sampled solution per line and many per problem.

`{"problem_id", "candidate_index", "problem", "reference_answer", "steps", "final_answer", "is_correct"}`. Published
scores of other models (`prm_step_scores`) and other keys are stored with the solution. A `multiplicity` above 1 counts
equal solutions that are written once. All solutions to a problem are
in one split. The format has no step labels.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from prm.formats.identity import KEY_DIGITS, solution_key, text_hash
from prm.formats.reading import convert_record, other_fields
from prm.formats.record import MOST_EQUAL, Record, sampled, sampled_texts
from prm.formats.registry import file_format
from prm.formats.writing import always
from prm.messages import Message
from prm.scores import TraceScore
from prm.traces import Trace
from prm.vocabulary import NeutralPolicy


class _Line(msgspec.Struct):
    problem_id: str | int
    candidate_index: int
    problem: str
    steps: list[str]
    is_correct: bool | None
    reference_answer: str | None = None
    final_answer: str | None = None
    generator: str = ""
    multiplicity: Annotated[int, msgspec.Meta(ge=1, le=MOST_EQUAL)] = 1


_IDS = ("problem_id", "candidate_index")


@file_format(
    "best_of_n",
    label=Message("format_best_of_n"),
    keys=("problem_id", "candidate_index", "problem", "steps", "is_correct"),
    split="holdout",
    judged="best of n",
)
def best_of_n(value: Any) -> Record:
    line = convert_record(value, _Line)
    return Record(
        problem=line.problem,
        positions=sampled(line.steps),
        source_group=str(line.problem_id),
        reference_answer=line.reference_answer,
        external_id=f"{line.problem_id}/{line.candidate_index}",
        generator=line.generator,
        final_answer=line.final_answer,
        final_answer_correct=line.is_correct,
        multiplicity=line.multiplicity,
        extra=other_fields(value, _Line) | {key: value[key] for key in _IDS},
    )


@best_of_n.writes(not_held=("labels",), by_structure=always)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any]]:
    """The solution with its original ids, else with numbers made of its content."""
    line = {
        "problem_id": text_hash(record.problem)[:KEY_DIGITS],
        "candidate_index": int(solution_key(record)[:8], 16),
        "problem": record.problem,
        "reference_answer": record.reference_answer,
        "steps": sampled_texts(record),
        "final_answer": record.final_answer,
        "is_correct": record.final_answer_correct,
        **({"generator": record.generator} if record.generator else {}),
        **({"multiplicity": record.multiplicity} if record.multiplicity > 1 else {}),
    }
    ids = {key: record.extra[key] for key in _IDS if key in record.extra}
    return [line | other_fields(record.extra, _Line) | ids]


@best_of_n.unpacks
def _unpack(trace: Trace, record: Record) -> list[Trace]:
    return [msgspec.structs.replace(trace, problem_id=record.source_group)]


@best_of_n.publishes
def _published(record: Record) -> Iterator[tuple[str, TraceScore]]:
    """Published step scores, each with the name of its model."""
    by_model = msgspec.convert(record.extra.get("prm_step_scores", {}), dict[str, list[float]])
    for model, scores in by_model.items():
        yield model, TraceScore(record.external_id, [[p] for p in scores], list(scores), [None] * len(scores), None)
