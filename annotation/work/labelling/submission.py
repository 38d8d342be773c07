"""A submission becomes an annotation, once, whatever is retried, late or done in two tabs."""

from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import Conflict, Forbidden, Missing
from annotation.core.statements import columns, fetch_all, fetch_one, instance
from annotation.models import (
    HIDDEN_LANES,
    MEASURING_LANES,
    Annotation,
    Draft,
    Lease,
    Membership,
    Project,
    QueueItem,
)
from annotation.work.labelling.allowing import allow_as_begun
from annotation.work.labelling.annotation_rows import write_annotation
from annotation.work.labelling.disputes import follow_revision
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.refusing import refuse
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.seen_hints import store_seen
from annotation.work.labelling.sending_back import answer
from annotation.work.queue.leases import end, lock_held
from prm.messages import Message
from prm.vocabulary import MACHINES

MEASURING = (*HIDDEN_LANES, *MEASURING_LANES)

# The lock puts retries and tabs of one person in a row. It stands alone before all that it protects: a statement that
# waits for it sees the other tables as they were before the wait. Sources are only ever added.
LOCK = f"""
SELECT {columns(Membership)}, label.kind, (
    SELECT source.id FROM annotation_labelsource source
    WHERE source.project_id = %(project)s AND source.name = '' AND source.kind = label.kind)
FROM annotation_membership CROSS JOIN LATERAL (
    SELECT CASE WHEN simulated THEN 'simulated' WHEN machine OR %(by_program)s THEN 'model_judge' ELSE 'human' END
) AS label(kind)
WHERE project_id = %(project)s AND user_id = %(user)s AND active
FOR NO KEY UPDATE OF annotation_membership
"""

KEPT = f"""
SELECT {columns(Annotation)} FROM annotation_annotation
WHERE submission_id = %(submission)s::uuid OR (annotator_id = %(annotator)s AND solution_id = %(solution)s)
"""


class Giver(NamedTuple):
    """Who labels: the membership, the kind of their labels, and the source of that kind if there is one."""

    membership: Membership
    kind: str
    source: int | None

    @property
    def is_machine(self) -> bool:
        return self.kind in MACHINES


@dataclass(frozen=True)
class Submitted:
    """The annotation; `created` is False if an earlier try of this submission made it."""

    annotation: Annotation
    created: bool


@transaction.atomic
def submit_annotation(*, by: User, project: Project, submission: Submission, by_program: bool = False) -> Submitted:
    """Keep a submission as an annotation.

    The same submission again gives the annotation it made. One made upon the person's latest revision becomes the
    next, and adjudicates where that one did; one made upon an older state is refused with both versions, so that the
    person can choose. One that comes after its lease ended fills a place of the item where there still is one, and is
    an extra annotation otherwise. Only what was claimed can be submitted, as the project asked at any time since.

    What a program submits (`by_program`, or a member marked as a machine) is a model judge's label. It never
    adjudicates, and fills a place only if the project trains on model judges and the lane measures nothing.

    Raises Forbidden (`not_annotator`, `lease_of_another`, `not_claimed`), Missing (`solution_not_found`,
    `lease_not_found`), Conflict (`submission_conflict`; `revision_conflict`, with the latest revision as `kept` and
    what came now as `given` in `extra`) and DomainError (`invalid_submission`).
    """
    giver = lock_labeller(by, project, by_program=by_program)
    membership = giver.membership
    earlier, latest = find_earlier(membership, submission)
    if earlier is not None:
        return Submitted(same(earlier, membership, submission), created=False)
    first_error = allow_as_begun(submission, membership, project)
    lease, item = _lease_of(membership, submission)
    _check_seen(submission, latest)
    counted = _take_place(lease, item, fills=not giver.is_machine or _may_fill(item, project))
    annotation = write_annotation(
        submission,
        giver.membership,
        lease,
        item,
        kind=giver.kind,
        source=giver.source,
        revision=latest.revision + 1 if latest else 1,
        counted=counted,
        adjudicates=latest is not None and latest.adjudicates and not giver.is_machine,
        first_error=first_error,
    )
    if annotation is None:  # The lock is one person's: somebody else has sent the same id at this moment.
        raise used_before()
    if submission.hints_seen and latest is None:
        store_seen(lease.pk, submission.hints_seen)
    if submission.reference_disputed or latest is not None:
        follow_revision(by=by, annotation=annotation, disputed=submission.reference_disputed)
    if latest is not None:
        answer(by=by, annotation=annotation)
    audit.record(
        by=by,
        action="annotation.submit",
        target=annotation,
        after={
            "solution": annotation.solution_id,
            "revision": annotation.revision,
            "counted": counted,
            "finish_reason": annotation.finish_reason,
            "first_error": first_error,
        },
    )
    return Submitted(annotation, created=True)


def lock_labeller(by: User, project: Project, *, by_program: bool) -> Giver:
    """Who labels, with their membership locked until the transaction ends. Raises Forbidden (`not_annotator`)."""
    row = fetch_one(LOCK, {"project": project.pk, "user": by.pk, "by_program": by_program})
    if row is None:
        raise Forbidden(Message("label_needs_membership"), code="not_annotator")
    return Giver(instance(Membership, row), *row[-2:])


def find_earlier(membership: Membership, submission: Submission) -> tuple[Annotation | None, Annotation | None]:
    """The annotation that this submission made earlier, and the person's latest revision on its solution."""
    keys = {
        "submission": submission.submission_id,
        "annotator": membership.pk,
        "solution": submission.solution,
    }
    stored = [instance(Annotation, row) for row in fetch_all(KEPT, keys)]
    earlier = next((label for label in stored if label.submission_id == submission.submission_id), None)
    own = [label for label in stored if (label.annotator_id, label.solution_id) == (membership.pk, submission.solution)]
    return earlier, max(own, key=lambda label: label.revision, default=None)


def same(earlier: Annotation, membership: Membership, submission: Submission) -> Annotation:
    """The earlier annotation, where this very submission made it. Raises Conflict (`submission_conflict`)."""
    if earlier.annotator_id != membership.pk or earlier.payload_hash != submission.payload_hash:
        raise used_before()
    return earlier


def used_before() -> Conflict:
    return Conflict(Message("submission_conflict"), {"field": "submission_id"})


def _check_seen(submission: Submission, latest: Annotation | None) -> None:
    """Refuse what was made without having seen the person's latest revision."""
    revision = latest.revision if latest else 0
    if submission.based_on > revision:
        refuse("based_on", Message("no_such_revision", based_on=submission.based_on))
    if latest is not None and submission.based_on < revision:
        raise Conflict(
            Message("revision_conflict"),
            {"revision": revision, "kept": as_submitted(latest), "given": submission},
        )


def _lease_of(membership: Membership, submission: Submission) -> tuple[Lease, QueueItem]:
    """The person's one lease on the solution, locked with its item; whether or not the submission names it."""
    held = lock_held(annotator=membership, solution=submission.solution)
    if submission.lease is not None and (held is None or submission.lease != held[0].pk):
        _refuse_lease(submission.lease, membership)
    if held is None:
        raise Forbidden(Message("not_claimed"))
    return held


def _refuse_lease(lease_id: int, membership: Membership) -> NoReturn:
    lease = Lease.objects.filter(pk=lease_id).first()
    if lease is None:
        raise Missing(Message("lease_not_found"))
    if lease.annotator_id != membership.pk:
        raise Forbidden(Message("lease_of_another"))
    refuse("lease", Message("lease_of_another_solution", lease=lease.pk))


def _may_fill(item: QueueItem, project: Project) -> bool:
    """Whether a machine's label is what the item waits for: people measure, and teach unless the project says so."""
    return item.lane not in MEASURING and "model_judge" in project.policies.training_sources


def _take_place(lease: Lease, item: QueueItem, *, fills: bool) -> bool:
    """Turn the lease's place into a done one; False if the submission is an extra or may not fill it."""
    if lease.state == Lease.State.SUBMITTED:
        Draft.objects.filter(lease=lease).delete()
        return False
    counted = fills and (lease.state == Lease.State.ACTIVE or item.state == QueueItem.State.READY)
    end(lease, item, Lease.State.SUBMITTED, done=counted)
    return counted
