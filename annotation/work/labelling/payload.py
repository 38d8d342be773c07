"""A person's submission for one solution, as it crosses the boundary.

Fields that came later are UNSET where they are not said: an older page's submission keeps its hash, so that its retry
is known again.
"""

import hashlib
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from prm.vocabulary import FinishReason, Rating, RatingState


class GivenSpan(msgspec.Struct, frozen=True):
    """A marked stretch of a step's text, in code points; `end` is not in it."""

    start: int
    end: int
    error_type: str = ""
    comment: str = ""


class Dimensions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a project asks of a step beside its rating; stored as it is, without what was not said.

    `clauses` are names of the policy's. `consistent_with` is the earlier position that the step agrees with, or, where
    `consistent` is False, contradicts. `critique` says what is wrong with the step; `critique_ratings` are 1, 0 or -1
    for each of the given critiques.
    """

    clauses: list[str] = []
    consistent: bool | None = None
    consistent_with: int | None = None
    redundant: bool = False
    recovers: bool = False
    critique: str = ""
    critique_ratings: list[Rating] = []


class GivenRating(msgspec.Struct, frozen=True):
    """A word on the completion `step` (its id); `accepted` where it was found good together with others, by one key.

    What is UNSET stays out of the payload's hash: a submission that knows nothing of it keeps the hash it had.
    """

    step: int
    state: RatingState
    rating: int | None = None
    flagged: bool = False
    error_type: str = ""
    comment: str = ""
    spans: list[GivenSpan] | UnsetType = UNSET
    accepted: bool | UnsetType = UNSET
    dimensions: Dimensions | UnsetType = UNSET


class GivenPosition(msgspec.Struct, frozen=True):
    """One position of the path; `ratings` in the order in which the completions were shown."""

    position: int
    chosen: int | None = None
    own_text: str | None = None
    dwell_ms: int | None = None
    ratings: list[GivenRating] = []


class SeenHint(msgspec.Struct, frozen=True):
    """The model's score of a position stood before the person, who had rated the step `before`; null for not yet."""

    position: int
    before: int | None = None


class Submission(msgspec.Struct, frozen=True):
    """`submission_id` is made once by the client, so that a retry is never a second submission.

    `based_on` is the revision of the person's own label that this one was made upon, 0 where they had seen none.
    `progress`, from 0 to 4, is how far the solution had got at its first error.
    What is UNSET stays out of the hash: a submission that knows nothing of it keeps the hash it had.
    """

    submission_id: UUID
    solution: int
    finish_reason: FinishReason
    path: list[GivenPosition]
    lease: int | None = None
    based_on: int = 0
    reason: str = ""
    total_ms: int | None = None
    comment: str = ""
    reference_disputed: bool = False
    progress: int | UnsetType = UNSET
    hints_seen: list[SeenHint] | UnsetType = UNSET

    @property
    def payload_hash(self) -> str:
        """SHA-256 of the content, equal for equal submissions."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()
