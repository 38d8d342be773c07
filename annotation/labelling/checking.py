"""Whether a submission is what the project's label scheme allows on this solution. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from annotation.errors import DomainError
from annotation.formats.path import first_error
from annotation.formats.record import PathPosition, Rating
from annotation.labelling.asking import Fault, faults_at_error, faults_of_dimensions
from annotation.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.models import LabelScheme

GAVE_UP = {"give_up", "bad_problem"}
NO_CRITIQUES: Mapping[int, int] = {}


def check(
    submission: Submission,
    positions: Sequence[Mapping[int, int]],
    scheme: LabelScheme,
    critiques: Mapping[int, int] = NO_CRITIQUES,
) -> int | None:
    """The first error of a submission that holds: a position, -1 for none, None where it is not known.

    `positions[p]` maps the id of each completion at position `p` to its alternative; `critiques` counts those that came
    with a completion, by its id. Raises DomainError (`invalid_submission`) whose `extra.field` names the place, such as
    `path[2].ratings[0].step`.
    """
    _check_places(submission.path, positions)
    for index, place in enumerate(submission.path):
        _check_choice(f"path[{index}]", place, positions[place.position], scheme)
    _refuse_any(faults_of_dimensions(submission.path, scheme, critiques))
    ends = _ends_at_error(submission.path, scheme) if scheme.stop_at_first_error else None
    if ends is not None:
        _check_nothing_after(submission.path, ends)
        if submission.finish_reason == "solution":
            _refuse("finish_reason", f"The step at position {ends} is rated -1: the finish reason is 'found_error'.")
    error = first_error(submission.finish_reason, as_record_path(submission.path, positions))
    _check_finish(submission, positions, scheme, error)
    _refuse_any(faults_at_error(submission, error, scheme))
    return error


def as_record_path(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]]) -> list[PathPosition]:
    """The path with completions named by their alternative, as in records."""
    return [
        PathPosition(
            position=place.position,
            chosen=None if place.chosen is None else positions[place.position][place.chosen],
            own_text=place.own_text,
            ratings=[
                Rating(alternative=positions[place.position][given.step], state=given.state, rating=given.rating)
                for given in place.ratings
            ],
        )
        for place in path
    ]


def _check_places(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]]) -> None:
    for index, place in enumerate(path):
        if place.position != index:
            _refuse(f"path[{index}].position", f"Positions come in order from 0; here {index} was expected.")
        if index >= len(positions):
            _refuse(f"path[{index}].position", f"The solution ends at position {len(positions) - 1}.")


def _check_choice(field: str, place: GivenPosition, here: Mapping[int, int], scheme: LabelScheme) -> None:
    seen: dict[int, GivenRating] = {}
    for index, given in enumerate(place.ratings):
        at = f"{field}.ratings[{index}]"
        if given.step not in here:
            _refuse(f"{at}.step", f"Step {given.step} does not stand at position {place.position} of this solution.")
        if given.step in seen:
            _refuse(f"{at}.step", f"Step {given.step} is rated twice.")
        _check_rating(at, given, scheme)
        seen[given.step] = given
    one_alone = not (scheme.rate_alternatives or scheme.choose_path)
    if one_alone and sum(given.state != "not_reached" for given in place.ratings) > 1:
        _refuse(f"{field}.ratings", "This project asks for one completion a position.")
    if place.own_text is not None:
        if place.chosen is not None:
            _refuse(f"{field}.own_text", "Either a completion is chosen or the person's own step, not both.")
        if not scheme.ask_own_step:
            _refuse(f"{field}.own_text", "This project does not ask for steps of one's own.")
    if place.chosen is None:
        return
    if place.chosen not in here:
        _refuse(f"{field}.chosen", f"Step {place.chosen} does not stand at position {place.position} of this solution.")
    chosen = seen.get(place.chosen)
    if chosen is None or chosen.state == "not_reached":
        _refuse(f"{field}.chosen", "The chosen completion needs a rating, or the word unsure.")
    elif scheme.stop_at_first_error and chosen.rating == -1:
        _refuse(f"{field}.chosen", "A completion rated -1 ends the path here: leave `chosen` null.")


def _check_rating(field: str, given: GivenRating, scheme: LabelScheme) -> None:
    if given.state == "rated" and given.rating not in {-1, 0, 1}:
        _refuse(f"{field}.rating", "A rated step has the rating 1, 0 or -1.")
    if given.rating == 0 and not scheme.offer_neutral:
        _refuse(f"{field}.rating", "This project has no neutral rating: a step is good or bad.")
    if given.state == "unsure" and not scheme.offer_unsure:
        _refuse(f"{field}.state", "This project asks for a rating of every step: none is left unsure.")
    if given.state != "rated" and given.rating is not None:
        _refuse(f"{field}.rating", f"A step that is {given.state.replace('_', ' ')} has no rating.")
    if given.error_type and given.rating != -1:
        _refuse(f"{field}.error_type", "Only a step rated -1 has an error type.")
    if given.error_type and given.error_type not in scheme.error_names:
        known = ", ".join(scheme.error_names) or "none"
        _refuse(f"{field}.error_type", f"'{given.error_type}' is not an error type of this project ({known}).")


def _ends_at_error(path: Sequence[GivenPosition], scheme: LabelScheme) -> int | None:
    """Where a path ends that stops at the first error: nothing chosen, and something rated -1.

    Where the path is chosen, a step of the person's own goes on.
    """
    for place in path:
        goes_on = place.chosen is not None or (scheme.choose_path and place.own_text is not None)
        if not goes_on and any(given.rating == -1 for given in place.ratings):
            return place.position
    return None


def _check_nothing_after(path: Sequence[GivenPosition], end: int) -> None:
    for index, place in enumerate(path):
        if place.position > end and _reached(place):
            _refuse(f"path[{index}]", f"Nothing is rated after the first error, which is at position {end}.")


def _reached(place: GivenPosition) -> bool:
    spoken = any(given.state != "not_reached" for given in place.ratings)
    return place.chosen is not None or place.own_text is not None or spoken


def _check_finish(
    submission: Submission, positions: Sequence[Mapping[int, int]], scheme: LabelScheme, error: int | None
) -> None:
    finish = submission.finish_reason
    if finish in GAVE_UP:
        if not submission.reason.strip():
            _refuse("reason", f"Say why: the finish reason '{finish}' needs a reason.")
        return
    if finish == "found_error" and (error is None or error < 0):
        _refuse("finish_reason", "'found_error' needs a step on the path that is rated -1.")
    stops = scheme.stop_at_first_error
    last = error if finish == "found_error" and stops else _last_asked(submission.path, positions, scheme)
    for position in range(len(positions)):
        if last is not None and position > last:
            return
        place = submission.path[position] if position < len(submission.path) else None
        continues = place is not None and (place.chosen is not None or place.own_text is not None)
        if not continues and not (finish == "found_error" and stops and position == last):
            _refuse(f"path[{position}]", f"The step at position {position} is neither rated nor marked as unsure.")


def _last_asked(path: Sequence[GivenPosition], positions: Sequence[Mapping[int, int]], scheme: LabelScheme) -> int:
    """The position up to which there has to be a path: where it is chosen, the person says where the solution ends."""
    if not scheme.choose_path:
        return len(positions) - 1
    return max((place.position for place in path if _reached(place)), default=0)


def _refuse_any(faults: Iterable[Fault]) -> None:
    for field, message in faults:
        _refuse(field, message)


def _refuse(field: str, message: str) -> None:
    raise DomainError("invalid_submission", message, {"field": field})
