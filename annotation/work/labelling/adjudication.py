"""Adjudication: a reviewer's label on a solution overrides the others."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from msgspec.structs import replace

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.membership.access import STAFF, require_role
from annotation.models import HIDDEN_LANES, Annotation, Project, Solution
from annotation.work.labelling.annotation_rows import write_annotation
from annotation.work.labelling.payload import GivenPosition, Submission
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.sending_back import answer_sent_back
from annotation.work.labelling.submission import (
    Submitted,
    check_same,
    find_earlier,
    lock_labeller,
    submission_conflict,
)
from annotation.work.labelling.validation import validate
from annotation.work.queue.items import leave_queue
from prm.messages import Message
from prm.vocabulary import MACHINES


@transaction.atomic
def adjudicate(*, by: User, project: Project, submission: Submission, seen: int, by_program: bool = False) -> Submitted:
    """Store a reviewer's own label as the decision, and take the solution out of the queue.

    Ratings are enough: only annotators must give a critique and the progress. The label must fit the project's current
    scheme, or any scheme since the newest label in `seen`.

    `seen` is the highest id among the solution's labels that the reviewer looked at, 0 for none; a newer label is a
    conflict. A retry returns the annotation that the first try made. Another submission by the same person is their
    next revision; the last of several reviewers decides. `based_on` and `lease` are ignored.

    Raises Forbidden (`role_needed`, `not_annotator`, `machine_cannot_decide`), Missing (`solution_not_found`), Conflict
    (`labels_changed`, `submission_conflict`) and DomainError (`invalid_submission`).
    """
    return _decide(by, project, submission, seen=seen, by_program=by_program)


@transaction.atomic
def accept(
    *,
    by: User,
    annotation: Annotation,
    submission_id: UUID,
    seen: int,
    comment: str = "",
    by_program: bool = False,
) -> Submitted:
    """Adjudicate with a copy of one of the labels, without its flags and times.

    Steps that the annotator accepted together stay marked as such.

    Raises as `adjudicate`, and DomainError (`not_acceptable`: a machine's label, or an answer to gold).
    """
    if annotation.source.kind in MACHINES or annotation.lane in HIDDEN_LANES:
        raise DomainError(Message("not_acceptable"))
    label = as_submitted(annotation)
    submission = Submission(
        submission_id=submission_id,
        solution=label.solution,
        finish_reason=label.finish_reason,
        path=[_without_flags_and_times(place) for place in label.path],
        reason=label.reason,
        comment=comment,
        progress=label.progress,
    )
    return _decide(by, annotation.project, submission, seen=seen, accepted=annotation, by_program=by_program)


def _without_flags_and_times(place: GivenPosition) -> GivenPosition:
    ratings = [replace(rating, flagged=False) for rating in place.ratings]
    return replace(place, dwell_ms=None, ratings=ratings)


def _decide(
    by: User,
    project: Project,
    submission: Submission,
    *,
    seen: int,
    by_program: bool,
    accepted: Annotation | None = None,
) -> Submitted:
    require_role(by, project, *STAFF)
    labeller = lock_labeller(by, project, by_program=by_program)
    membership = labeller.membership
    if labeller.is_machine:
        raise Forbidden(Message("machine_cannot_decide"))
    # Two reviewers decide one after the other, so that the second sees the first one's decision.
    Solution.objects.select_for_update(no_key=True, of=("self",)).filter(pk=submission.solution).first()
    earlier, latest = find_earlier(membership, submission)
    if earlier is not None:
        check_same(earlier, membership, submission)
        return Submitted(earlier, created=False)
    since = partial(_seen_since, submission.solution, seen)
    first_error = accepted.first_error if accepted else validate(submission, project, since=since, ratings_suffice=True)
    before = _decided_so_far(submission.solution, seen)
    annotation = write_annotation(
        submission,
        project.pk,
        membership.pk,
        None,
        None,
        kind=labeller.kind,
        source=labeller.source,
        revision=latest.revision + 1 if latest else 1,
        counted=False,
        adjudicates=True,
        first_error=first_error,
    )
    if annotation is None:
        raise submission_conflict()
    if latest is not None:
        answer_sent_back(by=by, annotation=annotation)
    leave_queue([submission.solution])
    audit.record(
        by=by,
        action="annotation.adjudicate",
        target=annotation,
        before=before,
        after={
            "solution": submission.solution,
            "revision": annotation.revision,
            "finish_reason": annotation.finish_reason,
            "first_error": first_error,
            "accepts": accepted and accepted.pk,
        },
    )
    return Submitted(annotation, created=True)


def _seen_since(solution: int, seen: int) -> datetime | None:
    """The earliest time at which the reviewer can have looked at these labels: when the newest was submitted."""
    labels = Annotation.objects.filter(solution=solution, pk__lte=seen).order_by("-pk")
    return labels.values_list("submitted_at", flat=True).first()


def _decided_so_far(solution: int, seen: int) -> dict[str, Any]:
    """The decision so far, for the audit row. Raises Conflict if a label exists that was not `seen`."""
    labels = Annotation.objects.filter(solution=solution).order_by("-pk")
    newest = labels.values_list("pk", flat=True).first() or 0
    if newest > seen:
        raise Conflict(Message("labels_changed"), {"newest": newest})
    decided = labels.filter(adjudicates=True).first()
    return {"annotation": decided.pk, "first_error": decided.first_error} if decided else {}
