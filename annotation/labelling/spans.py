"""Whether the stretches of text that a submission marks are there."""

from collections.abc import Iterator

from msgspec import UNSET

from annotation.errors import DomainError
from annotation.labelling.payload import GivenRating, GivenSpan, Submission
from annotation.models import LabelScheme
from annotation.statements import fetch_all

LENGTHS = "SELECT id, char_length(text) FROM annotation_step WHERE id = ANY(%(steps)s::bigint[])"


def check_spans(submission: Submission, scheme: LabelScheme) -> None:
    """Look at the marked steps' texts; nothing is asked where nothing is marked. The steps are known to be there.

    Raises DomainError (`invalid_submission`) whose `extra.field` names the place: `path[2].ratings[0].spans[1].end`.
    """
    marked = list(_marked(submission))
    if not marked:
        return
    lengths = dict(fetch_all(LENGTHS, {"steps": list({given.step for _, given, _ in marked})}))
    for field, given, span in marked:
        _check(field, given, span, lengths[given.step], scheme)


def _marked(submission: Submission) -> Iterator[tuple[str, GivenRating, GivenSpan]]:
    for at, place in enumerate(submission.path):
        for index, given in enumerate(place.ratings):
            for number, span in enumerate([] if given.spans is UNSET else given.spans):
                yield f"path[{at}].ratings[{index}].spans[{number}]", given, span


def _check(field: str, given: GivenRating, span: GivenSpan, length: int, scheme: LabelScheme) -> None:
    if given.state == "not_reached":
        _refuse(field, f"Step {given.step} was not reached, so nothing in it is marked.")
    if span.end <= span.start:
        _refuse(f"{field}.end", "A marked stretch of text has at least one character.")
    if span.end > length:
        _refuse(f"{field}.end", f"The text of step {given.step} ends after {length} characters.")
    if span.error_type and given.rating != -1:
        _refuse(f"{field}.error_type", "Only in a step rated -1 something has an error type.")
    if span.error_type and span.error_type not in scheme.error_names:
        known = ", ".join(scheme.error_names) or "none"
        _refuse(f"{field}.error_type", f"'{span.error_type}' is not an error type of this project ({known}).")


def _refuse(field: str, message: str) -> None:
    raise DomainError("invalid_submission", message, {"field": field})
