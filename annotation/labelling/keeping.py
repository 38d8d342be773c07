"""Writes an annotation with its path and ratings."""

from django.utils import timezone

from annotation.labelling.payload import Submission
from annotation.models import Annotation, LabelSource, Lease, Membership, PathStep, QueueItem, StepRating


def keep(
    submission: Submission,
    membership: Membership,
    lease: Lease,
    item: QueueItem,
    *,
    revision: int,
    counted: bool,
    first_error: int | None,
) -> Annotation:
    """The rows of a submission that was checked. Raises IntegrityError where its id is taken."""
    kind = LabelSource.Kind.SIMULATED if membership.simulated else LabelSource.Kind.HUMAN
    source, _ = LabelSource.objects.get_or_create(project_id=membership.project_id, kind=kind, name="")
    annotation = Annotation.objects.create(
        project_id=membership.project_id,
        solution_id=lease.solution_id,
        source=source,
        annotator=membership,
        item=item,
        lease=lease,
        lane=item.lane,
        submission_id=submission.submission_id,
        payload_hash=submission.payload_hash,
        revision=revision,
        counted=counted,
        finish_reason=submission.finish_reason,
        reason=submission.reason,
        first_error=first_error,
        total_ms=submission.total_ms,
        comment=submission.comment,
        submitted_at=timezone.now(),
    )
    PathStep.objects.bulk_create(
        PathStep(
            annotation=annotation,
            position=place.position,
            chosen_id=place.chosen,
            own_text=place.own_text,
            dwell_ms=place.dwell_ms,
        )
        for place in submission.path
    )
    StepRating.objects.bulk_create(
        StepRating(
            annotation=annotation,
            step_id=given.step,
            ordinal=ordinal,
            state=given.state,
            rating=given.rating,
            flagged=given.flagged,
            error_type=given.error_type,
            comment=given.comment,
        )
        for place in submission.path
        for ordinal, given in enumerate(place.ratings)
    )
    return annotation
