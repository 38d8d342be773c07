"""PRM800K's native JSONL (Let's Verify Step by Step, github.com/openai/prm800k): one labelled solution per line.

Phase 2 names the sampled solution in `question.pre_generated_steps`; alternatives rated at the error come with the
label. Phase 1 has only the completions that one labeller walked through, so they all belong to the solution. What the
record's own fields cannot express is in `native`, and a line with unknown content is stored there whole, so that every
line is written as it was read.

A written line has more keys than OpenAI's, those of `_ADDED`. Reading restores them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

import msgspec

from prm import vocabulary
from prm.formats.path import first_error
from prm.formats.reading import Unreadable, convert_record
from prm.formats.record import (
    Completion,
    Inclusion,
    PathPosition,
    Rating,
    Record,
    RecordAnnotation,
    alternative_of,
    as_imported,
    stored_line,
)
from prm.formats.registry import file_format
from prm.formats.writing import STEP_WISE, Loss, always
from prm.messages import Message
from prm.vocabulary import LABEL_LANES, SPLITS, FinishReason, NeutralPolicy, RatingState, SourceKind


class _Completion(msgspec.Struct):
    text: str
    rating: vocabulary.Rating | None = None
    flagged: bool | None = None


class _Written(msgspec.Struct):
    text: str


class _Step(msgspec.Struct):
    completions: list[_Completion] | None
    human_completion: _Written | None = None
    chosen_completion: int | None = None


class _Label(msgspec.Struct):
    steps: list[_Step]
    finish_reason: FinishReason
    total_time: Any = None


class _Question(msgspec.Struct):
    problem: str
    ground_truth_solution: str | None = None
    ground_truth_answer: str | None = None
    pre_generated_steps: list[str] | None = None
    pre_generated_answer: str | None = None
    pre_generated_verifier_score: float | None = None


class _Line(msgspec.Struct):
    labeler: str
    question: _Question
    label: _Label
    timestamp: str | None = None
    source_kind: SourceKind | None = None
    source_detail: dict[str, Any] = {}
    source_group: str = ""
    # Other files may use these keys for anything.
    annotator: Any = None
    source_name: Any = ""
    revision: Any = None
    lane: Any = ""
    split: Any = ""
    inclusion: Inclusion | None = None
    guidelines: int | None = None


@file_format("prm800k", label="PRM800K", keys=("question", "label", "completions", "finish_reason"))
def prm800k(value: Any) -> Record:
    """The record of a line; a label without a source kind is a person's, as in OpenAI's own files."""
    line = convert_record(value, _Line)
    added = _read_added(line)
    value = {key: part for key, part in value.items() if key not in _ADDED or (key in _VAGUE and key not in added)}
    question, label = line.question, line.label
    positions = [[Completion(text)] for text in question.pre_generated_steps or []]
    sampled = bool(positions)
    path = [_place(number, step, positions, added=sampled) for number, step in enumerate(label.steps)]
    while positions and not positions[-1]:
        positions.pop()
    annotation = RecordAnnotation(
        source_kind=line.source_kind or "human",
        source_detail=line.source_detail,
        **{"source_name": "" if "annotator" in added else line.labeler} | added,
        finish_reason=label.finish_reason,
        path=path,
        inclusion=line.inclusion,
        guidelines=line.guidelines,
        first_error=first_error(label.finish_reason, path),
        total_ms=label.total_time if type(label.total_time) is int and 0 <= label.total_time < 2**62 else None,
        submitted_at=_moment(line.timestamp),
        native={
            "format": "prm800k",
            "question": [key for key in _Question.__struct_fields__ if key in value["question"]],
            "sampled": len(question.pre_generated_steps or []),
            **{key: value.get(key) for key in _OWN_KEYS},
        },
    )
    record = Record(
        problem=question.problem,
        positions=positions,
        reference_answer=question.ground_truth_answer,
        reference_solution=question.ground_truth_solution,
        source_group=line.source_group,
        split=line.split if line.split in SPLITS else "",
        final_answer=question.pre_generated_answer,
        annotations=[annotation],
    )
    if question.pre_generated_verifier_score is not None:
        record.extra = {"verifier_score": value["question"]["pre_generated_verifier_score"]}
    if _native(record, annotation) != value:
        annotation.native = {"format": "prm800k", "line": value}
    return record


@prm800k.writes(nameless=False, not_held=STEP_WISE, by_structure=always)
def _lines(record: Record, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    """A line for each annotation, without comments and reasons."""
    if not record.annotations:
        yield Loss("unlabelled")
    for annotation in record.annotations:
        yield _native(record, annotation) | _added(record, annotation)


_OWN_KEYS = ("timestamp", "generation", "is_quality_control_question", "is_initial_screening_question")
_ADDED = (
    "source_kind", "source_name", "source_detail", "annotator", "revision", "lane", "inclusion", "guidelines",
    "source_group", "split",
)  # fmt: skip
_VAGUE = ("annotator", "source_name", "revision", "lane")  # added keys that count only if they fit


def _read_added(line: _Line) -> dict[str, Any]:
    """The fields of the label under the keys of _VAGUE."""
    added: dict[str, Any] = {}
    if isinstance(line.annotator, str) and line.annotator == line.labeler:
        added["annotator"] = line.annotator
        if isinstance(line.source_name, str) and line.source_name:
            added["source_name"] = line.source_name
    if type(line.revision) is int and line.revision > 0:
        added["revision"] = line.revision
    if line.lane in LABEL_LANES:
        added["lane"] = line.lane
    return added


def _added(record: Record, annotation: RecordAnnotation) -> dict[str, Any]:
    """The keys of _ADDED that have a value; `source_kind` always has one.

    A source without an annotator is the `labeler`.
    """
    values = {key: getattr(record if key in ("source_group", "split") else annotation, key) for key in _ADDED}
    if annotation.annotator is None:
        del values["source_name"]
    return {key: value for key, value in values.items() if value}


def _moment(timestamp: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(timestamp or "")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _place(number: int, step: _Step, positions: list[list[Completion]], *, added: bool) -> PathPosition:
    """The choice and ratings at one position; adds completions that the solution does not have yet."""
    while len(positions) <= number:
        positions.append([])
    place = PathPosition(position=number)
    for shown in step.completions or []:
        used = {rating.alternative for rating in place.ratings}
        alternative = alternative_of(positions[number], Completion(shown.text, added=added), used=used)
        place.ratings.append(Rating(alternative, _state(shown), rating=shown.rating, flagged=shown.flagged))
    chosen = step.chosen_completion
    if chosen is not None:
        if not 0 <= chosen < len(place.ratings):
            field = f"label.steps[{number}].chosen_completion"
            raise Unreadable(
                field,
                Message(
                    "chosen_index_invalid", completions=Message("n_completions", n=len(place.ratings)), chosen=chosen
                ),
            )
        place.chosen = place.ratings[chosen].alternative
    if step.completions is None:
        place.native["completions"] = None
    if step.human_completion is not None and chosen is None:
        place.own_text = step.human_completion.text
    return place


def _state(shown: _Completion) -> RatingState:
    if shown.rating is not None:
        return "rated"
    return "unsure" if shown.flagged else "not_reached"


def _native(record: Record, annotation: RecordAnnotation) -> dict[str, Any]:
    if line := stored_line(annotation, "prm800k"):
        return line
    native = annotation.native if annotation.native.get("format") == "prm800k" else {}
    question = {
        "problem": as_imported(record, annotation, "problem"),
        "ground_truth_solution": as_imported(record, annotation, "reference_solution"),
        "ground_truth_answer": as_imported(record, annotation, "reference_answer"),
        "pre_generated_steps": [
            at[0].text for at in record.positions[: native.get("sampled")] if at and not at[0].added
        ],
        "pre_generated_answer": as_imported(record, annotation, "final_answer"),
        "pre_generated_verifier_score": as_imported(record, annotation, "extra").get("verifier_score"),
    }
    own = {
        "timestamp": annotation.submitted_at
        and annotation.submitted_at.astimezone(UTC).replace(tzinfo=None).isoformat(),
        "generation": annotation.generation,
        "is_quality_control_question": annotation.lane == "gold",
        "is_initial_screening_question": annotation.lane == "screening",
    }
    return {
        "labeler": annotation.annotator or annotation.source_name,
        **{key: native.get(key, own[key]) for key in _OWN_KEYS},
        "question": {key: question[key] for key in native.get("question", question)},
        "label": {
            "steps": [_native_step(record, place) for place in sorted(annotation.path, key=attrgetter("position"))],
            "total_time": annotation.total_ms,
            "finish_reason": annotation.finish_reason,
        },
    }


def _native_step(record: Record, place: PathPosition) -> dict[str, Any]:
    at = record.positions[place.position] if place.position < len(record.positions) else []
    order, completions = [], []
    for rating in place.ratings:
        order.append(rating.alternative)
        flagged = True if rating.state == "unsure" else rating.flagged
        completions.append({"text": at[rating.alternative].text, "rating": rating.rating, "flagged": flagged})
    chosen = place.chosen
    if chosen is not None:
        if chosen not in order:
            order.append(chosen)
            completions.append({"text": at[chosen].text, "rating": None, "flagged": None})
        chosen = order.index(chosen)
    own = place.own_text
    return {
        "completions": place.native.get("completions", completions),
        "human_completion": None if own is None else {"text": own, "rating": None, "source": "human", "flagged": False},
        "chosen_completion": chosen,
    }
