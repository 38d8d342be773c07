"""Stores each submission as one annotation, despite retries, expired leases and several tabs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import Conflict, Forbidden, Missing
from annotation.core.statements import WITHOUT_FLUSH, columns, fetch_all, fetch_one, instance, instances
from annotation.models import Annotation, Lease, Membership, Project, QueueItem, Taker
from annotation.work.labelling.annotation_rows import NOTHING, Others, write_annotation
from annotation.work.labelling.disputes import follow_revision
from annotation.work.labelling.handing_over import follow_judges
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.refusing import refuse
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.seen_hints import store_seen
from annotation.work.labelling.sending_back import answer_sent_back
from annotation.work.labelling.validation import STEPS, StepRows, validate_claimed
from annotation.work.queue.leases import CLOSE, STATE, close_lease, lock_rows, set_generation
from prm.messages import Message
from prm.vocabulary import MACHINES

# The lock makes retries and tabs of one person run one after the other. It is a statement of its own, because a
# statement that waits for a lock reads other tables as they were before the wait. That is harmless for the source,
# because sources are only ever added: a machine's label may only miss a version that began meanwhile.
LABELLER = f"""label.kind, COALESCE(
    (SELECT machine.source_id FROM annotation_machineannotator machine
     WHERE machine.membership_id = annotation_membership.id),
    (SELECT source.id FROM annotation_labelsource source
     WHERE source.project_id = %(project)s AND source.name = '' AND source.kind = label.kind)),
    {columns(Membership)}"""
COMMIT = f"CASE WHEN NOT %(flushes)s THEN {WITHOUT_FLUSH} END"
FROM = """
FROM annotation_membership CROSS JOIN LATERAL (
    SELECT CASE WHEN annotation_membership.kind = 'simulated' THEN 'simulated'
        WHEN annotation_membership.kind = 'machine' OR %(by_program)s THEN 'model_judge' ELSE 'human' END
) AS label(kind)"""
WHERE = "WHERE annotation_membership.project_id = %(project)s AND user_id = %(user)s AND active"
LOCK = f"SELECT {LABELLER}, {COMMIT} {FROM} {WHERE} FOR NO KEY UPDATE OF annotation_membership"
ITEM = """
JOIN annotation_lease ON annotation_lease.annotator_id = annotation_membership.id
    AND annotation_lease.solution_id = %(solution)s
JOIN annotation_queueitem ON annotation_queueitem.id = annotation_lease.item_id"""
LOCKED = "FOR NO KEY UPDATE OF annotation_membership, annotation_queueitem, annotation_lease"
# The membership is locked first, then the item, then the lease. No row if the lease is new or moved to another item
# while the statement waited.
LOCK_WORK = f"""
SELECT {LABELLER}, {columns(Lease)}, {columns(QueueItem)}, {COMMIT} {FROM} {ITEM} {WHERE} {LOCKED}
"""

BEFORE = "submission_id = %(submission)s::uuid OR (annotator_id = %(annotator)s AND solution_id = %(solution)s)"
EARLIER = f"SELECT {columns(Annotation)} FROM annotation_annotation WHERE {BEFORE}"
# What a submission is checked against, read after all locks; one row without an annotation if there is none.
CONTEXT = f"""
SELECT {columns(Annotation)}, {STATE}, {STEPS}
FROM (SELECT) AS always LEFT JOIN annotation_annotation ON {BEFORE}
"""
# Parts of the statement that inserts the label.
CLOSE_AND_AUDIT = f", {CLOSE.format(condition='EXISTS (SELECT FROM label)')}, audited AS ({audit.insertion('label')})"

# What an ordinary submission is checked against: a person's first label on a solution whose lease is active. No row for
# any other. Nothing is locked.
FIRST = f"""
SELECT {LABELLER}, {columns(Lease)}, {columns(QueueItem)}, generation.state, {STEPS} {FROM} {ITEM}
JOIN annotation_generation generation ON generation.id = annotation_queueitem.generation_id
{WHERE} AND annotation_membership.kind <> 'machine' AND annotation_queueitem.taker = 'person'
    AND annotation_lease.state = 'active'
    AND NOT EXISTS (SELECT FROM annotation_annotation WHERE submission_id = %(submission)s::uuid)
    AND NOT EXISTS (
        SELECT FROM annotation_annotation label
        WHERE label.solution_id = %(solution)s AND label.annotator_id = annotation_membership.id)
"""
# Locks the rows of LOCK_WORK in the same order. After a wait, PostgreSQL compares their newest versions: the label
# is stored only if they are as FIRST read them. An active lease shows that nobody has submitted on it. The replacement
# of a generation changes the places of an item, unless the item ends in the same state either way.
UNCHANGED = f"""held AS MATERIALIZED (
    SELECT {COMMIT} FROM annotation_membership {ITEM}
    WHERE annotation_membership.id = %(annotator)s AND annotation_membership.active
        AND annotation_lease.id = %(lease)s AND annotation_lease.state = 'active'
        AND (annotation_queueitem.id, annotation_queueitem.wanted, annotation_queueitem.leased,
            annotation_queueitem.done, annotation_queueitem.state, annotation_queueitem.taker)
            = (%(item)s, %(wanted_before)s, %(leased_before)s, %(done_before)s, %(state_before)s, 'person')
        AND (COALESCE(%(guidelines)s::bigint, 0) = 0 OR EXISTS (
            SELECT FROM annotation_guidelineversion WHERE project_id = %(project)s AND number = %(guidelines)s::bigint))
    {LOCKED})"""
READY = QueueItem.State.READY
LEASE_AND_ITEM = len(Lease._meta.concrete_fields) + len(QueueItem._meta.concrete_fields)

Caller = dict[str, Any]  # the values of LABELLER and COMMIT


class Labeller(NamedTuple):
    """Who labels: the membership, the kind of their labels, and the source of their labels if there is one yet."""

    membership: Membership
    kind: str
    source: int | None

    @property
    def is_machine(self) -> bool:
        return self.kind in MACHINES


@dataclass(frozen=True)
class Submitted:
    """The annotation; `created` is False if an earlier try of this submission created it."""

    annotation: Annotation
    created: bool


def submit_annotation(
    *, by: User, project: Project, submission: Submission, by_program: bool = False, flushes: bool = True
) -> Submitted:
    """Store a submission as an annotation; without `flushes`, the caller waits for the disk before it reports that.

    - A retry returns the annotation that the first try created.
    - A submission based on the person's latest revision becomes the next one, and adjudicates if that one did. One
      based on an older revision is rejected with both versions, so that the person can choose.
    - A submission after its lease ended fills a place of the item if one is free, else it is an extra annotation.
    - The person must have claimed the solution. The label must fit a scheme that the project has had since then.
    - A program's label (`by_program`, or a machine member's) is a model judge's. It never adjudicates, and fills a
      place only of an item that machines may take. The last judge's label may hand the item over to a person.

    Raises Forbidden (`not_annotator`, `lease_of_another`, `not_claimed`), Missing (`solution_not_found`,
    `lease_not_found`), Conflict (`submission_conflict`; `revision_conflict`, with both versions in `extra` as `latest`
    and `submitted`) and DomainError (`invalid_submission`).
    """
    caller = {"project": project.pk, "user": by.pk, "by_program": by_program, "flushes": flushes}
    simple = not submission.hints_seen and not submission.reference_disputed
    stored = _submit_first(by, project, submission, caller) if simple else None
    return stored or _submit_locked(by, project, submission, caller)


def _submit_first(by: User, project: Project, submission: Submission, caller: Caller) -> Submitted | None:
    """Store an ordinary submission in one statement; None if it is another, or others change its rows meanwhile."""
    row = fetch_one(FIRST, caller | {"solution": submission.solution, "submission": submission.submission_id})
    if row is None:
        return None
    *before, state, steps = row
    labeller = _labeller(before)
    lease, item = instances(before[-LEASE_AND_ITEM:], Lease, QueueItem)
    set_generation(item, state)
    first_error = validate_claimed(submission, labeller.membership, project, steps)
    _check_lease((lease, item), labeller.membership, submission)
    _check_base(submission, None)
    places = {f"{name}_before": getattr(item, name) for name in ("wanted", "leased", "done", "state")}
    guard = {**places, "flushes": caller["flushes"]}
    annotation = _write(by, project, submission, labeller, lease, item, None, first_error, UNCHANGED, guard)
    return None if annotation is None else Submitted(annotation, created=True)


@transaction.atomic
def _submit_locked(by: User, project: Project, submission: Submission, caller: Caller) -> Submitted:
    """Store any submission, with its rows locked first."""
    labeller, held = _lock_work(caller, submission.solution)
    membership = labeller.membership
    earlier, latest, steps = _read_context(membership, submission, held and held[1])
    if earlier is not None:
        check_same(earlier, membership, submission)
        return Submitted(earlier, created=False)
    first_error = validate_claimed(submission, membership, project, steps)
    lease, item = _check_lease(held, membership, submission)
    _check_base(submission, latest)
    annotation = _write(by, project, submission, labeller, lease, item, latest, first_error)
    if annotation is None:  # another person, whom the lock does not cover, has just used the same id
        raise submission_conflict()
    if annotation.counted:
        follow_judges(item)
    if submission.hints_seen and latest is None:
        store_seen(lease.pk, submission.hints_seen)
    if submission.reference_disputed or latest is not None:
        follow_revision(by=by, annotation=annotation, disputed=submission.reference_disputed)
    if latest is not None:
        answer_sent_back(by=by, annotation=annotation)
    return Submitted(annotation, created=True)


def _write(
    by: User,
    project: Project,
    submission: Submission,
    labeller: Labeller,
    lease: Lease,
    item: QueueItem,
    latest: Annotation | None,
    first_error: int | None,
    guard: str = "",
    guard_values: Mapping[str, Any] = NOTHING,
) -> Annotation | None:
    """Insert the label and its audit row, fill its place, and end its lease; None as `write_annotation`."""
    # After its place is filled, a lease stays submitted, and later submissions are extra annotations.
    is_open = lease.state == Lease.State.ACTIVE or (lease.state != Lease.State.SUBMITTED and item.state == READY)
    counted = is_open and labeller.is_machine == (item.taker == Taker.MACHINE)
    closed = close_lease(lease, item, Lease.State.SUBMITTED, done=counted)
    revision = latest.revision + 1 if latest else 1
    after = {
        "solution": submission.solution,
        "revision": revision,
        "counted": counted,
        "finish_reason": submission.finish_reason,
        "first_error": first_error,
    }
    audited = audit.entry(by=by, action="annotation.submit", kind=Annotation, after=after)
    return write_annotation(
        submission,
        project.pk,
        labeller.membership.pk,
        lease,
        item,
        kind=labeller.kind,
        source=labeller.source,
        revision=revision,
        counted=counted,
        adjudicates=latest is not None and latest.adjudicates and not labeller.is_machine,
        first_error=first_error,
        others=Others(CLOSE_AND_AUDIT, {**closed, **audited, **guard_values}, guard),
    )


def lock_labeller(by: User, project: Project, *, by_program: bool) -> Labeller:
    """The labeller, with their membership locked until the transaction ends. Raises Forbidden (`not_annotator`)."""
    return _lock({"project": project.pk, "user": by.pk, "by_program": by_program, "flushes": True})


def _lock(caller: Caller) -> Labeller:
    row = fetch_one(LOCK, caller)
    if row is None:
        raise Forbidden(Message("label_needs_membership"), code="not_annotator")
    return _labeller(row)


def _lock_work(caller: Caller, solution: int) -> tuple[Labeller, tuple[Lease, QueueItem] | None]:
    """As `lock_labeller`, and the person's lease on the solution with its item, also locked; None without a lease."""
    if row := fetch_one(LOCK_WORK, caller | {"solution": solution}):
        lease, item = instances(row[-LEASE_AND_ITEM - 1 : -1], Lease, QueueItem)
        return _labeller(row), (lease, item)
    labeller = _lock(caller)
    return labeller, lock_rows(annotator=labeller.membership, solution=solution)


def _labeller(row: Sequence[Any]) -> Labeller:
    kind, source, *membership = row
    return Labeller(instance(Membership, membership), kind, source)


def find_earlier(membership: Membership, submission: Submission) -> tuple[Annotation | None, Annotation | None]:
    """The annotation with this submission's id, and the person's latest revision on its solution."""
    return _identify(fetch_all(EARLIER, _keys(membership, submission)), membership, submission)


def _read_context(
    membership: Membership, submission: Submission, item: QueueItem | None
) -> tuple[Annotation | None, Annotation | None, StepRows | None]:
    """As `find_earlier`, and the solution's `STEPS`; sets the item's generation in its current state."""
    values = {"generation": item and item.generation_id, "project": membership.project_id}
    rows = fetch_all(CONTEXT, _keys(membership, submission) | values)
    *_, state, steps = rows[0]
    if item is not None:
        set_generation(item, state)
    earlier, latest = _identify([row for row in rows if row[0] is not None], membership, submission)
    return earlier, latest, steps


def _keys(membership: Membership, submission: Submission) -> dict[str, Any]:
    return {"submission": submission.submission_id, "annotator": membership.pk, "solution": submission.solution}


def _identify(
    rows: Sequence[tuple[Any, ...]], membership: Membership, submission: Submission
) -> tuple[Annotation | None, Annotation | None]:
    stored = [instance(Annotation, row) for row in rows]
    earlier = next((label for label in stored if label.submission_id == submission.submission_id), None)
    own = [label for label in stored if (label.annotator_id, label.solution_id) == (membership.pk, submission.solution)]
    return earlier, max(own, key=lambda label: label.revision, default=None)


def check_same(earlier: Annotation, membership: Membership, submission: Submission) -> None:
    """Raise Conflict (`submission_conflict`) unless the earlier annotation has the same content and labeller."""
    if earlier.annotator_id != membership.pk or earlier.payload_hash != submission.payload_hash:
        raise submission_conflict()


def submission_conflict() -> Conflict:
    return Conflict(Message("submission_conflict"), {"field": "submission_id"})


def _check_base(submission: Submission, latest: Annotation | None) -> None:
    """Reject a submission that is not based on the person's latest revision."""
    revision = latest.revision if latest else 0
    if submission.based_on > revision:
        refuse("based_on", Message("no_such_revision", based_on=submission.based_on))
    if latest is not None and submission.based_on < revision:
        raise Conflict(
            Message("revision_conflict"),
            {"revision": revision, "latest": as_submitted(latest), "submitted": submission},
        )


def _check_lease(
    held: tuple[Lease, QueueItem] | None, membership: Membership, submission: Submission
) -> tuple[Lease, QueueItem]:
    """The person's lease on the solution and its item, even if the submission does not name it."""
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
