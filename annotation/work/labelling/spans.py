"""Checks the spans of text that a submission marks."""

from collections.abc import Iterator

from msgspec import UNSET

from annotation.core.statements import fetch_all
from annotation.models import LabelScheme
from annotation.work.labelling.payload import GivenRating, GivenSpan, Submission
from annotation.work.labelling.refusing import refuse, refuse_unknown_type
from prm.messages import Message

LENGTHS = "SELECT id, char_length(text) FROM annotation_step WHERE id = ANY(%(steps)s::bigint[])"


def check_spans(submission: Submission, scheme: LabelScheme) -> None:
    """Reject spans outside their step's text or against the scheme. The steps have been checked to exist.

    Raises DomainError (`invalid_submission`), whose `extra.field` names the place: `path[2].ratings[0].spans[1].end`.
    """
    marked = list(_marked(submission))
    if not marked:
        return
    lengths = dict(fetch_all(LENGTHS, {"steps": list({rating.step for _, rating, _ in marked})}))
    for field, rating, span in marked:
        _check(field, rating, span, lengths[rating.step], scheme)


def _marked(submission: Submission) -> Iterator[tuple[str, GivenRating, GivenSpan]]:
    for at, place in enumerate(submission.path):
        for index, rating in enumerate(place.ratings):
            for number, span in enumerate([] if rating.spans is UNSET else rating.spans):
                yield f"path[{at}].ratings[{index}].spans[{number}]", rating, span


def _check(field: str, rating: GivenRating, span: GivenSpan, length: int, scheme: LabelScheme) -> None:
    if rating.state == "not_reached":
        refuse(field, Message("mark_in_step_not_reached", step=rating.step))
    if span.end <= span.start:
        refuse(f"{field}.end", Message("mark_empty"))
    if span.end > length:
        refuse(f"{field}.end", Message("mark_after_text", n=length, step=rating.step))
    if span.error_type and rating.rating != -1:
        refuse(f"{field}.error_type", Message("mark_error_type_of_good_step"))
    refuse_unknown_type(f"{field}.error_type", span.error_type, scheme)
