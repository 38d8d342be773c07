"""A reviewer's ratings along a path, as a submission. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from annotation.labelling.payload import FinishReason, GivenPosition, GivenRating, Submission

UNSURE = "unsure"


def verdict(
    solution: int,
    path: Sequence[int],
    words: Mapping[int, int | str],
    *,
    stops: bool,
    submission_id: UUID,
    comment: str = "",
) -> Submission:
    """Ratings (1, 0, -1 or UNSURE) of the completions of a path, by their ids in order.

    Where the scheme `stops` at the first error, what comes after it is left out. A completion without a word ends it
    too, to be refused where it may not.
    """
    places: list[GivenPosition] = []
    errors = 0
    for position, step in enumerate(path):
        if step not in words or (errors and stops):
            break
        bad = words[step] == -1
        errors += bad
        places.append(
            GivenPosition(position, chosen=None if bad and stops else step, ratings=[_rating(step, words[step])])
        )
    finish: FinishReason = "found_error" if errors else "solution"
    return Submission(submission_id, solution, finish, places, comment=comment)


def _rating(step: int, word: int | str) -> GivenRating:
    return GivenRating(step, "unsure") if isinstance(word, str) else GivenRating(step, "rated", word)
