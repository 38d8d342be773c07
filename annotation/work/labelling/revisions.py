"""A person's own earlier labels, to look at and to revise."""

from typing import Any, cast

from django.contrib.auth.models import User
from msgspec import UNSET

from annotation.core.errors import Forbidden
from annotation.core.membership.access import membership_of
from annotation.core.reading import find_row
from annotation.models import Annotation, Dispute, Project
from annotation.work.labelling.payload import (
    Dimensions,
    GivenPosition,
    GivenRating,
    GivenSpan,
    OwnLabel,
)
from prm.messages import Message
from prm.vocabulary import FinishReason, RatingState


def find_latest(*, by: User, project: Project, solution_id: int) -> Annotation:
    """The person's latest revision on a solution, with its lease, solution and problem.

    Raises Forbidden (`not_annotator`), Missing (`not_labelled`).
    """
    membership = membership_of(by, project)
    if membership is None:
        raise Forbidden(Message("label_needs_membership"), code="not_annotator")
    revisions = (
        Annotation.objects.filter(annotator=membership, solution=solution_id, lease__isnull=False)
        .select_related("lease__solution__problem", "lease__draft", "lease__hint")
        .order_by("-revision")
    )
    return find_row(revisions, Message("not_labelled"))


def as_submitted(annotation: Annotation) -> OwnLabel:
    """An annotation in the form in which it was submitted."""
    ratings: dict[int, list[GivenRating]] = {}
    for rating in annotation.ratings.select_related("step").order_by("step__position", "ordinal"):
        ratings.setdefault(rating.step.position, []).append(
            GivenRating(
                step=rating.step_id,
                state=cast(RatingState, rating.state),
                rating=rating.rating,
                flagged=bool(rating.flagged),
                error_type=rating.error_type,
                comment=rating.comment,
                accepted=True if rating.accepted else UNSET,
                spans=[GivenSpan(**span) for span in rating.spans] or UNSET,
                dimensions=_dimensions(rating.dimensions) if rating.dimensions else UNSET,
            )
        )
    return OwnLabel(
        solution=annotation.solution_id,
        revision=annotation.revision,
        submitted_at=annotation.submitted_at,
        finish_reason=cast(FinishReason, annotation.finish_reason),
        reason=annotation.reason,
        total_ms=annotation.total_ms,
        comment=annotation.comment,
        reference_disputed=_disputed(annotation),
        progress=UNSET if annotation.progress is None else annotation.progress,
        path=[
            GivenPosition(
                position=place.position,
                chosen=place.chosen_id,
                own_text=place.own_text,
                dwell_ms=place.dwell_ms,
                ratings=ratings.get(place.position, []),
            )
            for place in annotation.path.all()
        ],
    )


def fills_place(annotation: Annotation) -> bool:
    """Whether the label, or an earlier revision of it, fills one of its item's places."""
    if annotation.counted or annotation.revision == 1:
        return annotation.counted
    earlier = Annotation.objects.filter(annotator=annotation.annotator_id, solution=annotation.solution_id)
    return earlier.filter(revision__lt=annotation.revision, counted=True).exists()


def _disputed(annotation: Annotation) -> bool:
    """Whether this revision disputes the reference."""
    return Dispute.objects.filter(annotation=annotation).exclude(state=Dispute.State.WITHDRAWN).exists()


def _dimensions(stored: dict[str, Any]) -> Dimensions:
    """The stored dimensions that a submission can have; an imported label may have others."""
    return Dimensions(**{name: stored[name] for name in Dimensions.__struct_fields__ if name in stored})
