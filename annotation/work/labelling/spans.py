"""Whether the stretches of text that a submission marks are there."""

from collections.abc import Iterator

from msgspec import UNSET

from annotation.core.statements import fetch_all
from annotation.models import LabelScheme
from annotation.work.labelling.payload import GivenRating, GivenSpan, Submission
from annotation.work.labelling.refusing import refuse, refuse_unknown_type
from prm.messages import Message

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
        refuse(field, Message("mark_in_step_not_reached", step=given.step))
    if span.end <= span.start:
        refuse(f"{field}.end", Message("mark_empty"))
    if span.end > length:
        refuse(f"{field}.end", Message("mark_after_text", n=length, step=given.step))
    if span.error_type and given.rating != -1:
        refuse(f"{field}.error_type", Message("mark_error_type_of_good_step"))
    refuse_unknown_type(f"{field}.error_type", span.error_type, scheme)
