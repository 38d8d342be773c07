"""Reads the lines that a sampling, search or RL run posts: the plain format with labels and scores.

`labels` are `{"kind", "name", "ratings": [1, 0, -1, null, ...]}` or `{"kind", "name", "first_error": 2}` (-1 for none);
`step_scores` are `{"kind", "name", "scores": [0.9, null, ...]}`. They are stored with the solution and are not ratings,
because a score has no threshold. Unlike in a file, an unknown field is rejected.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

import msgspec

from prm.formats import plain
from prm.formats.labels import index_label, rated_label
from prm.formats.reading import Numbered, Unreadable, read_records
from prm.formats.record import Record, RecordAnnotation
from prm.messages import Message
from prm.vocabulary import Rating, SourceKind, StepKind

Rated = Rating | None


class PostedSource(msgspec.Struct, forbid_unknown_fields=True):
    """The source of labels or scores: `name` is the judge or the policy of the rollouts, `detail` the method."""

    kind: SourceKind
    name: str
    detail: dict[str, Any] = {}


class PostedLabel(PostedSource, forbid_unknown_fields=True):
    """A rating for each step, or the first error."""

    ratings: list[Rated] | None = None
    first_error: int | None = None


class PostedScores(PostedSource, forbid_unknown_fields=True):
    """A score for each step."""

    scores: list[float | None] = []


class Posted(plain.Line, forbid_unknown_fields=True):
    """A posted solution. `outcome` is another form of `final_answer_correct`."""

    outcome: Literal["correct", "wrong", "unknown"] | None = None
    labels: list[PostedLabel] = []
    step_scores: list[PostedScores] = []
    extra: dict[str, Any] = {}


def read_posted(stream: BinaryIO) -> Iterator[Numbered]:
    """Yield (line, record or rejection) from JSON Lines."""
    return read_records(stream, _record)


def _record(value: Any) -> Record:
    posted = msgspec.convert(value, Posted)
    extra = dict(posted.extra)
    if posted.step_scores:
        extra["step_scores"] = msgspec.to_builtins(posted.step_scores)
    record = plain.record_of(posted, extra)
    if posted.outcome is not None:
        record.final_answer_correct = {"correct": True, "wrong": False, "unknown": None}[posted.outcome]
    if (posted.labels or posted.step_scores) and posted.steps is None:
        raise Unreadable("steps", Message("steps_needed_for_labels"))
    for number, scores in enumerate(posted.step_scores):
        _check_count(f"step_scores[{number}].scores", len(scores.scores), len(record.positions))
    record.annotations = [
        _label(f"labels[{number}]", label, [at[0].kind for at in record.positions])
        for number, label in enumerate(posted.labels)
    ]
    return record


def _label(field: str, label: PostedLabel, kinds: list[StepKind]) -> RecordAnnotation:
    if (label.ratings is None) == (label.first_error is None):
        raise Unreadable(field, Message("ratings_or_first_error"))
    if label.ratings is not None:
        _check_count(f"{field}.ratings", len(label.ratings), len(kinds))
        made = rated_label(label.ratings, kind=label.kind, name=label.name, kinds=kinds)
    else:
        assert label.first_error is not None
        made = index_label(
            label.first_error, len(kinds), field=f"{field}.first_error", kind=label.kind, name=label.name
        )
    made.source_detail = label.detail
    return made


def _check_count(field: str, count: int, steps: int) -> None:
    if count != steps:
        entries = Message("n_entries", n=count)
        of = Message("n_steps", n=steps)
        raise Unreadable(field, Message("entry_count_differs", entries=entries, steps=of))
