"""A submission becomes an annotation, once, whatever is retried, late or done in two tabs."""

from dataclasses import dataclass
from typing import NoReturn

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from annotation import audit
from annotation.errors import Conflict, DomainError, Forbidden, Missing
from annotation.labelling.checking import check
from annotation.labelling.payload import Submission
from annotation.models import (
    Annotation,
    Dispute,
    Draft,
    LabelSource,
    Lease,
    Membership,
    PathStep,
    Project,
    QueueItem,
    Solution,
    Step,
    StepRating,
)
from annotation.queue.items import save_places
from annotation.queue.leases import lock_held


@dataclass(frozen=True)
class Submitted:
    """The annotation; `created` is False where this submission had been kept before."""

    annotation: Annotation
    created: bool


@transaction.atomic
def submit_annotation(*, by: User, project: Project, submission: Submission) -> Submitted:
    """Keep a submission as an annotation.

    The same submission again gives the annotation it made. Another one of the same person on the same
    solution becomes a new revision. One that comes after its lease ended fills a place of the item where
    there still is one, and is an extra annotation otherwise. Only what was claimed can be submitted.

    Raises Forbidden (`not_annotator`, `lease_of_another`, `not_claimed`), Missing (`solution_not_found`,
    `lease_not_found`), Conflict (`submission_conflict`) and DomainError (`invalid_submission`).
    """
    # The lock puts retries and tabs of one person in a row.
    membership = Membership.objects.select_for_update(no_key=True).filter(project=project, user=by, active=True).first()
    if membership is None:
        raise Forbidden("not_annotator", "You are not a member of this project, so you cannot label in it.")
    earlier = Annotation.objects.filter(submission_id=submission.submission_id).first()
    if earlier is not None:
        return Submitted(_same(earlier, membership, submission), created=False)
    solution = Solution.objects.filter(project=project, pk=submission.solution).first()
    if solution is None:
        raise Missing("solution_not_found", f"There is no solution {submission.solution} in {project.name}.")
    steps = list(Step.objects.filter(solution=solution).order_by("position", "alternative"))
    first_error = check(submission, _by_position(steps), project.label_scheme)
    lease, item = _lease_of(membership, solution, submission)
    counted = _take_place(lease, item)
    annotation = _keep(submission, membership, solution, lease, item, counted=counted, first_error=first_error)
    if submission.reference_disputed:
        dispute = Dispute.objects.create(project=project, annotation=annotation)
        audit.record(by=by, action="dispute.open", target=dispute, project=project, after={"state": dispute.state})
    audit.record(
        by=by,
        action="annotation.submit",
        target=annotation,
        project=project,
        after={
            "solution": solution.pk,
            "revision": annotation.revision,
            "counted": counted,
            "finish_reason": annotation.finish_reason,
            "first_error": first_error,
        },
    )
    return Submitted(annotation, created=True)


def _same(earlier: Annotation, membership: Membership, submission: Submission) -> Annotation:
    if earlier.annotator_id != membership.pk or earlier.payload_hash != submission.payload_hash:
        raise _used_before()
    return earlier


def _used_before() -> Conflict:
    return Conflict(
        "submission_conflict",
        "This submission_id was used before for something else: make a new one and send again.",
        {"field": "submission_id"},
    )


def _by_position(steps: list[Step]) -> list[dict[int, int]]:
    positions: list[dict[int, int]] = []
    for step in steps:
        while len(positions) <= step.position:  # a position that came without any completion stays empty
            positions.append({})
        positions[step.position][step.pk] = step.alternative
    return positions


def _lease_of(membership: Membership, solution: Solution, submission: Submission) -> tuple[Lease, QueueItem]:
    """The person's one lease on the solution, locked with its item; whether or not the submission names it."""
    own = Lease.objects.filter(annotator=membership, solution=solution).values_list("pk", flat=True).first()
    if submission.lease is not None and submission.lease != own:
        _refuse_lease(submission.lease, membership)
    if own is None:
        raise Forbidden("not_claimed", "This solution was not given to you: claim one and submit that.")
    return lock_held(own)


def _refuse_lease(lease_id: int, membership: Membership) -> NoReturn:
    lease = Lease.objects.filter(pk=lease_id).first()
    if lease is None:
        raise Missing("lease_not_found", "There is no such lease.")
    if lease.annotator_id != membership.pk:
        raise Forbidden("lease_of_another", "This solution is in another person's hands.")
    raise DomainError("invalid_submission", f"Lease {lease.pk} is for another solution.", {"field": "lease"})


def _take_place(lease: Lease, item: QueueItem) -> bool:
    """Turn the lease's place into a done one; False where the submission is an extra."""
    counted = False
    if lease.state == Lease.State.ACTIVE:
        item.leased -= 1
        counted = True
    elif lease.state != Lease.State.SUBMITTED:
        counted = item.state == QueueItem.State.READY
    if counted:
        item.done += 1
        save_places([item])
    if lease.state != Lease.State.SUBMITTED:
        lease.state, lease.ended_at = Lease.State.SUBMITTED, timezone.now()
        lease.save(update_fields=["state", "ended_at"])
    Draft.objects.filter(lease=lease).delete()
    return counted


def _keep(
    submission: Submission,
    membership: Membership,
    solution: Solution,
    lease: Lease,
    item: QueueItem,
    *,
    counted: bool,
    first_error: int | None,
) -> Annotation:
    kind = LabelSource.Kind.SIMULATED if membership.simulated else LabelSource.Kind.HUMAN
    source, _ = LabelSource.objects.get_or_create(project_id=solution.project_id, kind=kind, name="")
    before = Annotation.objects.filter(solution=solution, source=source, annotator=membership)
    annotation = Annotation(
        project_id=solution.project_id,
        solution=solution,
        source=source,
        annotator=membership,
        item=item,
        lease=lease,
        lane=item.lane,
        submission_id=submission.submission_id,
        payload_hash=submission.payload_hash,
        revision=(before.aggregate(last=Max("revision"))["last"] or 0) + 1,
        counted=counted,
        finish_reason=submission.finish_reason,
        reason=submission.reason,
        first_error=first_error,
        total_ms=submission.total_ms,
        comment=submission.comment,
        submitted_at=timezone.now(),
    )
    try:
        with transaction.atomic():
            annotation.save(force_insert=True)
    except IntegrityError:
        # The lock is one person's: somebody else may have sent the same id at this moment.
        if Annotation.objects.filter(submission_id=submission.submission_id).exists():
            raise _used_before() from None
        raise
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
