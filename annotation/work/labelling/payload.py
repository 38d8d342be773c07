"""A submission for one solution, as clients send it.

Fields that were added later are UNSET by default and then left out of the hash, so that a retry by an older page still
has the hash of its first try.
"""

import hashlib
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from annotation.core.bounds import LARGEST_INTEGER, Id, Milliseconds, Note, Position, ShortNote, about
from annotation.models.scheme import Progress
from prm.vocabulary import FinishReason, Rating, RatingState


class GivenSpan(msgspec.Struct, frozen=True):
    """A marked span of a step's text, in code points; `end` is exclusive."""

    start: Annotated[Position, about("The start of the marked text, in code points.")]
    end: Annotated[int, Meta(ge=1, le=LARGEST_INTEGER), about("The end of the marked text, exclusive, in code points.")]
    error_type: ShortNote = ""
    comment: Note = ""


class Dimensions(msgspec.Struct, frozen=True, omit_defaults=True):
    """Answers about a step besides its rating, as the project asks for them; omitted answers are not stored."""

    clauses: Annotated[
        list[ShortNote], Meta(max_length=100, description="Clauses of the project's policy that the step breaks.")
    ] = []
    consistent: Annotated[
        bool | None, about("Whether the step agrees with an earlier step; false if it contradicts one.")
    ] = None
    consistent_with: Annotated[Position | None, about("Position of that earlier step.")] = None
    redundant: Annotated[bool, about("Whether the step repeats what is known.")] = False
    recovers: Annotated[bool, about("Whether the step recovers from an earlier error.")] = False
    critique: Annotated[Note, about("What is wrong with the step.")] = ""
    critique_ratings: Annotated[
        list[Rating],
        Meta(max_length=100, description="A rating for each imported critique of the step, in order."),
    ] = []


class GivenRating(msgspec.Struct, frozen=True):
    """A rating of the completion `step` (its id). UNSET fields are left out of the submission's hash."""

    step: Annotated[Id, about("The id of the completion.")]
    state: Annotated[RatingState, about("Whether the step is rated; `unsure`: seen, but not decided.")]
    rating: Annotated[
        Annotated[int, Meta(ge=-1, le=1)] | None, about("1 good, 0 neutral, -1 bad; null if it is not rated.")
    ] = None
    flagged: Annotated[bool, about("Whether a reviewer should look at the step.")] = False
    error_type: ShortNote = ""
    comment: Note = ""
    spans: Annotated[
        Annotated[list[GivenSpan], Meta(max_length=200)] | UnsetType, about("Marked parts of the step's text.")
    ] = UNSET
    accepted: Annotated[
        bool | UnsetType,
        about("Whether the step was accepted together with others by one key."),
    ] = UNSET
    dimensions: Annotated[Dimensions | UnsetType, about("Answers besides the rating.")] = UNSET


class GivenPosition(msgspec.Struct, frozen=True):
    """One position of the path; `ratings` in the order in which the completions were shown."""

    position: Position
    chosen: Annotated[
        Id | None, about("The id of the chosen completion; null at the first error and for an own step.")
    ] = None
    own_text: Note | None = None
    dwell_ms: Annotated[Milliseconds | None, about("Active time on the step, in milliseconds; null if unknown.")] = None
    ratings: Annotated[
        list[GivenRating], Meta(max_length=200), about("The ratings of the completions at this position.")
    ] = []


class SeenHint(msgspec.Struct, frozen=True):
    """A position at which the annotator saw the model's score."""

    position: Position
    before: Annotated[
        Annotated[int, Meta(ge=-1, le=1)] | None,
        about("The annotator's own rating when the score appeared; null if none."),
    ] = None


class Submission(msgspec.Struct, frozen=True):
    """A label as a client submits it. UNSET fields are left out of the hash."""

    submission_id: Annotated[UUID, about("Made by the client. A retry sends the same id.")]
    solution: Id
    finish_reason: FinishReason
    path: Annotated[list[GivenPosition], Meta(max_length=20_000), about("The choice at each position.")]
    lease: Id | None = None
    based_on: Annotated[Position, about("The annotator's revision that this one is based on; 0 if none.")] = 0
    reason: Annotated[Note, about("Required for `give_up` and `bad_problem`.")] = ""
    total_ms: Milliseconds | None = None
    comment: Note = ""
    reference_disputed: bool = False
    progress: Annotated[
        Progress | UnsetType,
        about("Progress of the solution at its first error: 0 nowhere, 4 all but the end."),
    ] = UNSET
    guidelines: Annotated[
        Position | UnsetType,
        Meta(
            description="Version of the guidelines that the annotator had on the screen; 0 if none. By default the "
            "version that applied when the solution was claimed."
        ),
    ] = UNSET
    hints_seen: Annotated[
        Annotated[list[SeenHint], Meta(max_length=20_000)] | UnsetType,
        about("Hints in the order in which the annotator saw them."),
    ] = UNSET

    @property
    def label(self) -> "Submission":
        """The label alone, without the fields that a request adds to it, so that its hash is the same."""
        return Submission(**{name: getattr(self, name) for name in Submission.__struct_fields__})

    @property
    def payload_hash(self) -> str:
        """SHA-256 of the content, equal for equal submissions."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class OwnLabel(msgspec.Struct, kw_only=True):
    """A label as it was submitted."""

    solution: Id
    revision: Annotated[int, Meta(ge=1)]
    submitted_at: datetime
    finish_reason: FinishReason
    reason: Annotated[str, about("The reason in words; empty for none.")]
    total_ms: Milliseconds | None
    comment: str
    reference_disputed: bool
    progress: Annotated[
        Progress | UnsetType, about("How far the solution got before its first error, from 0 to 4.")
    ] = UNSET
    path: Annotated[list[GivenPosition], about("The choice at each position.")]
