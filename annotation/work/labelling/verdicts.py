"""A reviewer's ratings along a path, as a submission. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec import UNSET, UnsetType

from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from prm.vocabulary import FinishReason


def verdict(
    solution: int,
    path: Sequence[int],
    ratings: Mapping[int, GivenRating],
    *,
    stops: bool,
    submission_id: UUID,
    comment: str = "",
    progress: int | UnsetType = UNSET,
) -> Submission:
    """The path up to the first completion without a rating; completions are ids in order.

    If the scheme `stops` at the first error, later steps are left out. The scheme check rejects a path that ends early.
    """
    places: list[GivenPosition] = []
    errors = 0
    for position, step in enumerate(path):
        if step not in ratings or (errors and stops):
            break
        bad = ratings[step].rating == -1
        errors += bad
        places.append(GivenPosition(position, chosen=None if bad and stops else step, ratings=[ratings[step]]))
    finish: FinishReason = "found_error" if errors else "solution"
    return Submission(submission_id, solution, finish, places, comment=comment, progress=progress)
