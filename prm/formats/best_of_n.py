"""Pools for best-of-N: JSON Lines with one sampled solution each, many to a problem.

`{"problem_id", "candidate_index", "problem", "reference_answer", "steps", "final_answer", "is_correct"}`;
scores that other models gave (`prm_step_scores`) and other keys are kept with the solution. The solutions
of a problem stay in one split. Step labels are not part of it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from prm.formats.reading import Numbered, read_records
from prm.formats.record import Completion, Record


class _Line(msgspec.Struct):
    problem_id: str | int
    candidate_index: int
    problem: str
    steps: list[str]
    is_correct: bool | None
    reference_answer: str | None = None
    final_answer: str | None = None
    generator: str = ""


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_records(stream, _record, skip=skip)


def write(records: Iterable[Record]) -> Iterator[bytes]:
    """One line for each solution, under the ids it came with or those it has here."""
    for record in records:
        own = {"problem_id": record.problem_id, "candidate_index": record.solution_id}
        line = {
            **own,
            "problem": record.problem,
            "reference_answer": record.reference_answer,
            "steps": [at[0].text for at in record.positions if at],
            "final_answer": record.final_answer,
            "is_correct": record.final_answer_correct,
            **({"generator": record.generator} if record.generator else {}),
        }
        yield msgspec.json.encode(line | record.extra) + b"\n"


def _record(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    own = ("problem_id", "candidate_index")
    return Record(
        problem=line.problem,
        positions=[[Completion(text)] for text in line.steps],
        source_group=str(line.problem_id),
        reference_answer=line.reference_answer,
        external_id=f"{line.problem_id}/{line.candidate_index}",
        generator=line.generator,
        final_answer=line.final_answer,
        final_answer_correct=line.is_correct,
        extra={key: value[key] for key in value if key in own or key not in _Line.__struct_fields__},
    )
