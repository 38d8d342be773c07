"""Checks a submission against the label scheme and the solution's completions. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from annotation.models import LabelScheme
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.refusing import refuse, refuse_unknown_type
from annotation.work.labelling.scheme_questions import Fault, faults_of_dimensions, faults_of_progress, missing_at_error
from prm.formats.path import first_error
from prm.formats.record import PathPosition, Rating
from prm.messages import Message
from prm.vocabulary import GIVEN_UP

NO_CRITIQUES: Mapping[int, int] = {}


def check(
    submission: Submission,
    positions: Sequence[Mapping[int, int]],
    scheme: LabelScheme,
    critiques: Mapping[int, int] = NO_CRITIQUES,
    *,
    ratings_suffice: bool = False,
) -> int | None:
    """The first error of a valid submission: a position, -1 for none, None if unknown.

    `positions[p]` maps the id of each completion at position `p` to its alternative; `critiques` counts the imported
    critiques of each completion, by its id. With `ratings_suffice`, answers about the first error may be missing.
    Raises DomainError (`invalid_submission`), whose `extra.field` names the place, such as `path[2].ratings[0].step`.
    """
    _check_places(submission.path, positions)
    for index, place in enumerate(submission.path):
        _check_choice(f"path[{index}]", place, positions[place.position], scheme)
    _refuse_any(faults_of_dimensions(submission.path, scheme, critiques))
    ends = _ends_at_error(submission.path, scheme) if scheme.stop_at_first_error else None
    if ends is not None:
        _check_nothing_after(submission.path, ends)
        if submission.finish_reason == "solution":
            refuse("finish_reason", Message("finish_despite_error", ends=ends))
    error = first_error(submission.finish_reason, as_record_path(submission.path, positions))
    _check_finish(submission, positions, scheme, error)
    _refuse_any(faults_of_progress(submission, error, scheme))
    if not ratings_suffice:
        _refuse_any(missing_at_error(submission, error, scheme))
    return error


def as_record_path(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]]) -> list[PathPosition]:
    """The path with the alternative of each completion instead of its id, as in records."""
    return [
        PathPosition(
            position=place.position,
            chosen=None if place.chosen is None else positions[place.position][place.chosen],
            own_text=place.own_text,
            ratings=[
                Rating(alternative=positions[place.position][rating.step], state=rating.state, rating=rating.rating)
                for rating in place.ratings
            ],
        )
        for place in path
    ]


def _check_places(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]]) -> None:
    for index, place in enumerate(path):
        if place.position != index:
            refuse(f"path[{index}].position", Message("positions_out_of_order", index=index))
        if index >= len(positions):
            refuse(f"path[{index}].position", Message("position_after_end", n=len(positions) - 1))


def _check_choice(field: str, place: GivenPosition, here: Mapping[int, int], scheme: LabelScheme) -> None:
    seen: dict[int, GivenRating] = {}
    for index, rating in enumerate(place.ratings):
        at = f"{field}.ratings[{index}]"
        if rating.step not in here:
            refuse(f"{at}.step", Message("step_misplaced", step=rating.step, position=place.position))
        if rating.step in seen:
            refuse(f"{at}.step", Message("step_rated_twice", step=rating.step))
        _check_rating(at, rating, scheme)
        seen[rating.step] = rating
    one_alone = not (scheme.rate_alternatives or scheme.choose_path)
    if one_alone and sum(rating.state != "not_reached" for rating in place.ratings) > 1:
        refuse(f"{field}.ratings", Message("one_completion_a_position"))
    if place.own_text is not None:
        if place.chosen is not None:
            refuse(f"{field}.own_text", Message("both_chosen_and_own_step"))
        if not scheme.ask_own_step:
            refuse(f"{field}.own_text", Message("own_step_not_asked"))
    if place.chosen is None:
        return
    if place.chosen not in here:
        refuse(f"{field}.chosen", Message("chosen_step_misplaced", chosen=place.chosen, position=place.position))
    chosen = seen.get(place.chosen)
    if chosen is None or chosen.state == "not_reached":
        refuse(f"{field}.chosen", Message("chosen_step_unrated"))
    elif scheme.stop_at_first_error and chosen.rating == -1:
        refuse(f"{field}.chosen", Message("path_ends_at_error"))


def _check_rating(field: str, rating: GivenRating, scheme: LabelScheme) -> None:
    if rating.state == "rated" and rating.rating not in {-1, 0, 1}:
        refuse(f"{field}.rating", Message("rated_step_without_rating"))
    if rating.rating == 0 and not scheme.offer_neutral:
        refuse(f"{field}.rating", Message("no_neutral_rating"))
    if rating.accepted is True and not scheme.offer_accepting:
        refuse(f"{field}.accepted", Message("no_accepting_together"))
    if rating.accepted is True and rating.rating != 1:
        refuse(f"{field}.accepted", Message("accepted_step_not_good"))
    if rating.state == "unsure" and not scheme.offer_unsure:
        refuse(f"{field}.state", Message("no_unsure_rating"))
    if rating.state != "rated" and rating.rating is not None:
        refuse(f"{field}.rating", Message("rating_of_unrated_step"))
    if rating.error_type and rating.rating != -1:
        refuse(f"{field}.error_type", Message("error_type_of_good_step"))
    refuse_unknown_type(f"{field}.error_type", rating.error_type, scheme)


def _ends_at_error(path: Sequence[GivenPosition], scheme: LabelScheme) -> int | None:
    """The position at which the path ends at an error: no completion is chosen, and one is rated -1. None if none.

    If people choose the path, their own step continues it.
    """
    for place in path:
        continues = place.chosen is not None or (scheme.choose_path and place.own_text is not None)
        if not continues and any(rating.rating == -1 for rating in place.ratings):
            return place.position
    return None


def _check_nothing_after(path: Sequence[GivenPosition], end: int) -> None:
    for index, place in enumerate(path):
        if place.position > end and _reached(place):
            refuse(f"path[{index}]", Message("rated_after_first_error", end=end))


def _reached(place: GivenPosition) -> bool:
    rated = any(rating.state != "not_reached" for rating in place.ratings)
    return place.chosen is not None or place.own_text is not None or rated


def _check_finish(
    submission: Submission, positions: Sequence[Mapping[int, int]], scheme: LabelScheme, error: int | None
) -> None:
    finish = submission.finish_reason
    if finish in GIVEN_UP:
        if not submission.reason.strip():
            refuse("reason", Message("finish_reason_needed", finish=finish))
        return
    if finish == "found_error" and (error is None or error < 0):
        refuse("finish_reason", Message("finish_without_error"))
    stops = scheme.stop_at_first_error
    last = error if finish == "found_error" and stops else _last_required(submission.path, positions, scheme)
    for position in range(len(positions)):
        if last is not None and position > last:
            return
        place = submission.path[position] if position < len(submission.path) else None
        continues = place is not None and (place.chosen is not None or place.own_text is not None)
        if not continues and not (finish == "found_error" and stops and position == last):
            refuse(f"path[{position}]", Message("step_without_rating", position=position))


def _last_required(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]], scheme: LabelScheme) -> int:
    """The last position that the path must cover. People who choose the path also decide where the solution ends."""
    if not scheme.choose_path:
        return len(positions) - 1
    return max((place.position for place in path if _reached(place)), default=0)


def _refuse_any(faults: Iterable[Fault]) -> None:
    for field, message in faults:
        refuse(field, message)
