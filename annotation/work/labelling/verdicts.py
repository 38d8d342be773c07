"""A reviewer's ratings along a path, as a submission. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec import UNSET, UnsetType

from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from prm.vocabulary import FinishReason


def verdict(
    solution: int,
    path: Sequence[int],
    said: Mapping[int, GivenRating],
    *,
    stops: bool,
    submission_id: UUID,
    comment: str = "",
    progress: int | UnsetType = UNSET,
) -> Submission:
    """What is said of the completions of a path, by their ids in order.

    Where the scheme `stops` at the first error, what comes after it is left out. A completion of which nothing is said
    ends it too, to be refused where it may not.
    """
    places: list[GivenPosition] = []
    errors = 0
    for position, step in enumerate(path):
        if step not in said or (errors and stops):
            break
        bad = said[step].rating == -1
        errors += bad
        places.append(GivenPosition(position, chosen=None if bad and stops else step, ratings=[said[step]]))
    finish: FinishReason = "found_error" if errors else "solution"
    return Submission(submission_id, solution, finish, places, comment=comment, progress=progress)
