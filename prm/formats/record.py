"""The record: one solution with all its data, the form between files and the database.

A format reads its files into records and writes records to its files; a snapshot is a file of records. Positions are
0-based; an `alternative` is an index into the completions at a position. The most frequent parts of a record are not
tracked by the garbage collector (`gc=False`), since they cannot form cycles.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from prm.vocabulary import FinishReason, LabelLane, OutcomeSource, RatingState, SourceKind, StepKind, Visibility

LONGEST_PROMPT = 100_000
MOST_EQUAL = 1_000_000  # samples of one solution
_Name = Annotated[str, msgspec.Meta(max_length=200)]
_Text = Annotated[str, msgspec.Meta(max_length=LONGEST_PROMPT)]


class Provenance(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True, frozen=True):
    """How a solution was generated, and how much of it is visible; unknown fields are omitted.

    It is stored with the solution, in records and in snapshots.

    `policy` identifies the model, including its revision or checkpoint. `prompt` is the template, and `scaffold` the
    tools and the loop around the model, as texts or names. `run` names the sampling, search or RL run. `settings` has
    other settings of the sampler, such as `top_p` and `max_tokens`. `visibility` says whether the steps are the model's
    own text (`raw`), a `summary` by another model, or `redacted`.
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
    """One step. An `added` step came with an annotation and was not sampled with the solution.

    `critiques` are explanations of its errors, for annotators to rate.
    """

    text: str
    kind: StepKind = "reasoning"
    added: bool = False
    critiques: list[str] = []


class Span(msgspec.Struct, omit_defaults=True, gc=False):
    """A marked part of a step's text, from `start` up to `end` in code points."""

    start: int
    end: int
    error_type: str = ""
    comment: str = ""


class Rating(msgspec.Struct, omit_defaults=True, gc=False):
    """The rating of one completion. `flagged` is None if the format does not say.

    An `accepted` step was rated good together with others, not separately.
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
    """The choice at one position; `ratings` are in the order shown to the person."""

    position: int
    chosen: int | None = None
    own_text: str | None = None
    dwell_ms: int | None = None
    ratings: list[Rating] = []
    native: dict[str, Any] = {}


class HintDraw(msgspec.Struct, omit_defaults=True, gc=False):
    """The random draw that showed or hid the scores of a model (its version number) during labelling.

    `seen` are the positions whose score the person saw before the first submission, in that order.
    """

    shown: bool
    model: int
    seen: list[int] = []


class Inclusion(msgspec.Struct, frozen=True, gc=False):
    """The probability with which the draw of the label's lane and generation chose the solution.

    `weight` is 1 / `probability` (Horvitz and Thompson 1952), not normalised: over all items of a lane in a generation,
    the weights sum on average to the number of solutions that it was drawn from. For a mean, divide by their sum
    (Hajek 1971).
    """

    probability: Annotated[float, msgspec.Meta(gt=0, le=1)]
    weight: Annotated[float, msgspec.Meta(ge=1)]

    @classmethod
    def of(cls, probability: float) -> "Inclusion":
        return cls(probability, 1 / probability)


class RecordAnnotation(msgspec.Struct, omit_defaults=True):
    """One submission. `annotator` is the pseudonym of a person or of a program among the members.

    `source_name` names the source of any other label, and the version of such a program. `revision` counts the labels
    of one annotator or source on a solution from 1, None if the file does not say. A snapshot has comments and the
    `reason` for giving up on request only. `reference_disputed` means an open dispute of the reference.
    `native` holds what only the source format can express. Its key "given" holds fields of this labeller's file that
    differ from the stored solution. `reliability` is the annotator's informedness (Youden's J of bad steps, see
    `annotation.labels.consensus.reliability`) if it weighted the consensus, shrunk to the average person's if there are
    few shared steps. `shared_steps` counts the ratings that it rests on, and `reliability_interval` is their own 95 %
    interval. `hint` is None if no hint was possible. `inclusion` is None if the solution was not drawn: pinned items,
    gold, adjudications and most labels from files. `guidelines` is the number of the version that the annotator had on
    the screen, None if unknown.
    """

    source_kind: SourceKind
    finish_reason: FinishReason
    path: list[PathPosition]
    source_name: str = ""
    source_detail: dict[str, Any] = {}
    annotator: str | None = None
    revision: Annotated[int, msgspec.Meta(ge=1)] | None = None
    first_error: int | None = None
    progress: Annotated[int, msgspec.Meta(ge=0, le=4)] | None = None
    total_ms: int | None = None
    submitted_at: datetime | None = None
    lane: LabelLane | Literal[""] = ""
    generation: int | None = None
    inclusion: Inclusion | None = None
    guidelines: Annotated[int, msgspec.Meta(ge=1)] | None = None
    adjudicates: bool = False
    reference_disputed: bool = False
    native: dict[str, Any] = {}
    comment: str = ""
    reason: str = ""
    reliability: float | None = None
    reliability_interval: tuple[float, float] | None = None
    shared_steps: int | None = None
    hint: HintDraw | None = None


class Consensus(msgspec.Struct, omit_defaults=True, gc=False):
    """Posterior over the ratings of one completion, from `votes` ratings."""

    position: int
    alternative: int
    good: float
    neutral: float
    bad: float
    votes: int
    weight: float = 1.0
    adjudicated: bool = False


class Record(msgspec.Struct, omit_defaults=True):
    """One solution. `solution_text` is a text that is not split into steps yet; `positions` is then empty.

    It has neither steps nor a text if the file has only the problem. `multiplicity` counts equal samples, which are one
    solution. It has no id of the installation that exported it: `identity` names it by its content. An outcome
    (`final_answer_correct`) without a source comes from the file. `consensus_method` names an entry of `prm.consensus`,
    `consensus_fit` the fit whose parameters gave the posteriors, by their hash; empty for a method that does not learn.
    """

    problem: str
    positions: list[list[Completion]]
    solution_text: str | None = None
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
    multiplicity: Annotated[int, msgspec.Meta(ge=1, le=MOST_EQUAL)] = 1
    annotations: list[RecordAnnotation] = []
    consensus: list[Consensus] = []
    consensus_method: str = ""
    consensus_fit: str = ""

    @property
    def is_problem_only(self) -> bool:
        """Whether the file has the problem without a solution and labels."""
        return self.solution_text is None and not self.positions and not self.annotations


def sampled(texts: Iterable[str]) -> list[list[Completion]]:
    """The positions of a solution with one completion at each."""
    return [[Completion(text)] for text in texts]


def sampled_texts(record: Record) -> list[str]:
    """The steps of a solution as it was sampled."""
    return [at[0].text for at in record.positions if at]


def as_imported(record: Record, annotation: RecordAnnotation, field: str) -> Any:
    """A field of the record as the labeller's own file has it."""
    given = annotation.native.get("given", {})
    return given[field] if field in given else getattr(record, field)


def stored_line(annotation: RecordAnnotation, format: str) -> dict[str, Any] | None:
    """The line that the label was read from, if it is of this format and its fields cannot express the line."""
    return annotation.native.get("line") if annotation.native.get("format") == format else None


def alternative_of(at: list[Completion], completion: Completion, *, used: set[int]) -> int:
    """Index of the completion with the same text and kind at a position, outside `used`; appends it if there is none.

    A text that occurs twice at a position stays two completions.
    """
    for index, candidate in enumerate(at):
        if index not in used and (candidate.text, candidate.kind) == (completion.text, completion.kind):
            return index
    at.append(completion)
    return len(at) - 1


class Rejection(msgspec.Struct):
    """A record that cannot be read: 1-based line (or record number in an array), field and reason."""

    line: int
    reason: str
    field: str = ""
    excerpt: str = ""
