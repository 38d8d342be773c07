"""A person's own earlier work, to look at and to revise."""

from typing import Any

from django.contrib.auth.models import User

from annotation.core.errors import Forbidden, Missing
from annotation.core.membership.access import membership_of
from annotation.models import Annotation, Dispute, Project
from prm.messages import Message


def find_latest(*, by: User, project: Project, solution_id: int) -> Annotation:
    """The person's latest revision on a solution, with its lease, solution and problem.

    Raises Forbidden (`not_annotator`), Missing (`not_labelled`).
    """
    membership = membership_of(by, project)
    if membership is None:
        raise Forbidden("not_annotator", Message("label_needs_membership"))
    annotation = (
        Annotation.objects.filter(annotator=membership, solution=solution_id, lease__isnull=False)
        .select_related("lease__solution__problem", "lease__draft", "lease__hint")
        .order_by("-revision")
        .first()
    )
    if annotation is None:
        raise Missing("not_labelled", Message("not_labelled"))
    return annotation


def as_submitted(annotation: Annotation) -> dict[str, Any]:
    """An annotation as it was handed in: the fields of a submission, with `revision` and `submitted_at`."""
    ratings: dict[int, list[dict[str, Any]]] = {}
    for rating in annotation.ratings.select_related("step").order_by("step__position", "ordinal"):
        ratings.setdefault(rating.step.position, []).append(
            {
                "step": rating.step_id,
                "state": rating.state,
                "rating": rating.rating,
                "flagged": bool(rating.flagged),
                "error_type": rating.error_type,
                "comment": rating.comment,
                **({"accepted": True} if rating.accepted else {}),
                **({"spans": rating.spans} if rating.spans else {}),
                **({"dimensions": rating.dimensions} if rating.dimensions else {}),
            }
        )
    return {
        "solution": annotation.solution_id,
        "revision": annotation.revision,
        "submitted_at": annotation.submitted_at.isoformat(),
        "finish_reason": annotation.finish_reason,
        "reason": annotation.reason,
        "total_ms": annotation.total_ms,
        "comment": annotation.comment,
        "reference_disputed": _disputed(annotation),
        **({} if annotation.progress is None else {"progress": annotation.progress}),
        "path": [
            {
                "position": place.position,
                "chosen": place.chosen_id,
                "own_text": place.own_text,
                "dwell_ms": place.dwell_ms,
                "ratings": ratings.get(place.position, []),
            }
            for place in annotation.path.all()
        ],
    }


def fills_place(annotation: Annotation) -> bool:
    """Whether it fills one of the places that were wanted: by itself, or as the revision of a label that did."""
    if annotation.counted or annotation.revision == 1:
        return annotation.counted
    earlier = Annotation.objects.filter(annotator=annotation.annotator_id, solution=annotation.solution_id)
    return earlier.filter(revision__lt=annotation.revision, counted=True).exists()


def _disputed(annotation: Annotation) -> bool:
    """Whether this revision says that the reference is wrong."""
    return Dispute.objects.filter(annotation=annotation).exclude(state=Dispute.State.WITHDRAWN).exists()
