"""What a person hands in for one solution, as it crosses the boundary."""

import hashlib
from typing import Literal
from uuid import UUID

import msgspec

RatingState = Literal["rated", "unsure", "not_reached"]
FinishReason = Literal["solution", "found_error", "give_up", "bad_problem"]


class GivenSpan(msgspec.Struct, frozen=True):
    """A marked stretch of a step's text, in code points; `end` is not in it."""

    start: int
    end: int
    error_type: str = ""
    comment: str = ""


class GivenRating(msgspec.Struct, frozen=True):
    """A word on the completion `step` (its id).

    What is UNSET stays out of the payload's hash: a submission that knows nothing of it keeps the hash it had.
    """

    step: int
    state: RatingState
    rating: int | None = None
    flagged: bool = False
    error_type: str = ""
    comment: str = ""
    spans: list[GivenSpan] | msgspec.UnsetType = msgspec.UNSET


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
    hints_seen: list[SeenHint] | msgspec.UnsetType = msgspec.UNSET

    @property
    def payload_hash(self) -> str:
        """SHA-256 of the content, equal for equal submissions."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()
