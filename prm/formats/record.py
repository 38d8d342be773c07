"""The record: one solution with everything known of it, the form between files and the database.

A format module reads its files into records and writes records to its files; a snapshot is a file of
records. Positions are 0-based; an `alternative` is an index into the completions of a position.
What a record has many of is without the garbage collector's care (`gc=False`): it never holds itself.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

import msgspec

from prm.vocabulary import FinishReason, OutcomeSource, RatingState, SourceKind, StepKind, Visibility

LONGEST_PROMPT = 100_000
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST_PROMPT)]


class Provenance(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """What made a solution, and how much of it is shown; what is not known is left out.

    It is kept with the solution, in records, and in snapshots.

    `policy` is the model, exactly enough to find it again: its revision or checkpoint belongs to it. `prompt` and
    `scaffold` are the template, and the tools and the loop around the model, as texts or as names. `run` names the
    sampling, search or RL run. `settings` has what else the sampler was told, such as `top_p` and `max_tokens`.
    `visibility` says whether the steps are the model's own words (`raw`), another's `summary` of them, or `redacted`.
    """

    policy: _Name = ""
    temperature: Annotated[float, msgspec.Meta(ge=0)] | None = None
    seed: int | None = None
    prompt: _Text = ""
    scaffold: _Text = ""
    visibility: Visibility | None = None
    run: _Name = ""
    settings: dict[str, Any] = {}


class Completion(msgspec.Struct, omit_defaults=True, gc=False):
    """One step. `added` tells that it came with an annotation and was not sampled with the solution.

    `critiques` are explanations of what is wrong with it, for annotators to rate.
    """

    text: str
    kind: StepKind = "reasoning"
    added: bool = False
    critiques: list[str] = []


class Span(msgspec.Struct, omit_defaults=True, gc=False):
    """A stretch of a step's text that a person marked, in code points, `end` not in it; no `comment` in a snapshot."""

    start: int
    end: int
    error_type: str = ""
    comment: str = ""


class Rating(msgspec.Struct, omit_defaults=True, gc=False):
    """A word on one completion. `flagged` is None where the format says nothing; a snapshot has no `comment`.

    `accepted` where the step was not rated by itself but found good together with others.
    """

    alternative: int
    state: RatingState
    rating: int | None = None
    flagged: bool | None = None
    error_type: str = ""
    comment: str = ""
    dimensions: dict[str, Any] = {}
    spans: list[Span] = []
    accepted: bool = False


class PathPosition(msgspec.Struct, omit_defaults=True, gc=False):
    """What was chosen at one position; `ratings` stand in the order the person saw them."""

    position: int
    chosen: int | None = None
    own_text: str | None = None
    dwell_ms: int | None = None
    ratings: list[Rating] = []
    native: dict[str, Any] = {}


class HintDraw(msgspec.Struct, omit_defaults=True, gc=False):
    """How chance decided whether the scores of a model (its version's number) stood beside the work, or did not.

    `seen` are the positions whose score the person saw by their first submission, in the order in which they did.
    """

    shown: bool
    model: int
    seen: list[int] = []


class RecordAnnotation(msgspec.Struct, omit_defaults=True):
    """One submission. `annotator` is a pseudonym, None where the labels came with a file.

    `comment` comes in with a file and goes into no snapshot. `reference_disputed` tells that the person called the
    reference wrong, and has not taken it back. `native` keeps what only the source format can express. Its key "given"
    holds the fields of the record as this labeller's file gave them, where they differ from what is stored of the
    solution.
    `reliability` is the giver's informedness (Youden's J of bad steps, see `annotation.labels.quality.reliability`)
    where the consensus was weighed by it, drawn to the average person where there are few shared steps.
    `shared_steps` counts the giver's ratings behind it, and `reliability_interval` is what these alone show (95 %).
    `hint` is None where no hint was possible.
    """

    source_kind: SourceKind
    finish_reason: FinishReason
    path: list[PathPosition]
    source_name: str = ""
    source_detail: dict[str, Any] = {}
    annotator: str | None = None
    first_error: int | None = None
    progress: int | None = None
    total_ms: int | None = None
    submitted_at: datetime | None = None
    lane: str = ""
    generation: int | None = None
    adjudicates: bool = False
    reference_disputed: bool = False
    native: dict[str, Any] = {}
    comment: str = ""
    reliability: float | None = None
    reliability_interval: tuple[float, float] | None = None
    shared_steps: int | None = None
    hint: HintDraw | None = None


class Consensus(msgspec.Struct, omit_defaults=True, gc=False):
    """Posterior over the ratings of one completion, from `votes` words of the kinds in `sources`."""

    position: int
    alternative: int
    good: float
    neutral: float
    bad: float
    votes: int
    weight: float = 1.0
    adjudicated: bool = False


class Record(msgspec.Struct, omit_defaults=True):
    """One solution. `solution_text` is a text not split into steps yet; `positions` is then empty.

    The two ids are those of the project that the record was read from, absent in a file from outside. An outcome
    (`final_answer_correct`) without a source is as given in the file.
    """

    problem: str
    positions: list[list[Completion]]
    solution_text: str | None = None
    problem_id: int | None = None
    solution_id: int | None = None
    source_group: str = ""
    split: str = ""
    domain: str = ""
    reference_answer: str | None = None
    reference_solution: str | None = None
    problem_extra: dict[str, Any] = {}
    external_id: str = ""
    generator: str = ""
    final_answer: str | None = None
    final_answer_correct: bool | None = None
    outcome_source: OutcomeSource | None = None
    provenance: Provenance | None = None
    extra: dict[str, Any] = {}
    annotations: list[RecordAnnotation] = []
    consensus: list[Consensus] = []


def sampled(texts: Iterable[str]) -> list[list[Completion]]:
    """The positions of a solution of one completion each."""
    return [[Completion(text)] for text in texts]


def sampled_texts(record: Record) -> list[str]:
    """The steps of a solution as it was sampled."""
    return [at[0].text for at in record.positions if at]


def as_given(record: Record, annotation: RecordAnnotation, field: str) -> Any:
    """A field of the record as the labeller's own file gave it."""
    given = annotation.native.get("given", {})
    return given[field] if field in given else getattr(record, field)


def stored_line(annotation: RecordAnnotation, format: str) -> dict[str, Any] | None:
    """The line that the label was read from, if it is of this format and its fields cannot express the line."""
    return annotation.native.get("line") if annotation.native.get("format") == format else None


def alternative_of(at: list[Completion], completion: Completion, *, used: set[int]) -> int:
    """Index of the completion of the same text and kind at a position, outside `used`.

    Where there is none, it is appended: texts that stand twice at a position stay two completions.
    """
    for index, candidate in enumerate(at):
        if index not in used and (candidate.text, candidate.kind) == (completion.text, completion.kind):
            return index
    at.append(completion)
    return len(at) - 1


class Rejection(msgspec.Struct):
    """A record that cannot be taken: 1-based line (or record number in an array), field, reason."""

    line: int
    reason: str
    field: str = ""
    excerpt: str = ""
