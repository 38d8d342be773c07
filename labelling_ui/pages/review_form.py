"""Turns the reviewer's own ratings in the form into a submission."""

from uuid import UUID

from django.http import QueryDict
from msgspec import UNSET, UnsetType

from annotation.core.errors import DomainError
from annotation.labels.consensus.review_case import Case
from annotation.models import Step
from annotation.work.labelling.payload import Dimensions, GivenRating, GivenSpan, Submission
from annotation.work.labelling.verdicts import verdict
from labelling_ui.pages.access import whole_number
from prm.messages import Message
from prm.vocabulary import RATINGS, Rating

POSTED = {str(rating): rating for rating in RATINGS}
CONSISTENT = "yes"


def own_verdict(posted: QueryDict, case: Case, submission_id: UUID) -> Submission:
    """The ratings with their dimensions. Dimensions of wrong steps are left out of other steps.

    The form states whether it stopped at the first error, since the scheme may have changed. Raises DomainError
    (`critiques_left`) if only some of a step's critiques are rated.
    """
    path = [step.pk for step in case.path]
    ratings = {step.pk: rating for step in case.path if (rating := _rating(posted, step))}
    wrong = next((step for step, rating in ratings.items() if rating.rating == -1), None)
    progress = None if wrong is None else whole_number(posted.get(f"progress-{wrong}"))
    return verdict(
        case.solution.pk,
        path,
        ratings,
        stops=posted.get("stops") == "yes",
        submission_id=submission_id,
        comment=posted.get("comment", ""),
        progress=UNSET if progress is None else progress,
    )


def _rating(posted: QueryDict, of: Step) -> GivenRating | None:
    step = of.pk
    word = posted.get(f"word-{step}", "")
    if word not in (*POSTED, "unsure"):
        return None
    wrong = word == "-1"
    return GivenRating(
        step,
        "rated" if word in POSTED else "unsure",
        POSTED.get(word),
        accepted=True if word == "1" and posted.get(f"accepted-{step}") == "yes" else UNSET,
        error_type=posted.get(f"type-{step}", "") if wrong else "",
        comment=posted.get(f"comment-{step}", "").strip(),
        spans=_spans(posted, step, wrong) or UNSET,
        dimensions=_dimensions(posted, of, wrong),
    )


def _spans(posted: QueryDict, step: int, wrong: bool) -> list[GivenSpan]:
    """Marks have three fields each, in the same order: the range as `start:end`, its type and the remark."""
    places, types, comments = (posted.getlist(f"span{field}-{step}") for field in ("", "-type", "-comment"))
    return [
        GivenSpan(first, last, error_type if wrong else "", comment.strip())
        for place, error_type, comment in zip(places, types, comments, strict=False)
        for start, _, end in [place.partition(":")]
        if (first := whole_number(start)) is not None and (last := whole_number(end)) is not None
    ]


def _dimensions(posted: QueryDict, of: Step, wrong: bool) -> Dimensions | UnsetType:
    step = of.pk
    agrees = posted.get(f"consistent-{step}", "")
    beside = Dimensions(
        clauses=posted.getlist(f"clauses-{step}"),
        consistent=True if agrees == CONSISTENT else False if agrees else None,
        consistent_with=whole_number(agrees),
        redundant=f"redundant-{step}" in posted,
        recovers=f"recovers-{step}" in posted,
        critique=posted.get(f"critique-{step}", "").strip() if wrong else "",
        critique_ratings=_critique_ratings(posted, of) if wrong else [],
    )
    return UNSET if beside == Dimensions() else beside


def _critique_ratings(posted: QueryDict, step: Step) -> list[Rating]:
    """One rating for each critique of the step, or none."""
    ratings = [POSTED.get(posted.get(f"given-{step.pk}-{n}", "")) for n in range(len(step.critiques.all()))]
    rated = [rating for rating in ratings if rating is not None]
    if rated and len(rated) < len(ratings):
        raise DomainError(Message("critiques_left", n=step.position + 1))
    return rated
