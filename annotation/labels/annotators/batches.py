"""Batches of labels that are suspected, set aside and taken back into use. The labels themselves never change."""

from collections.abc import Iterable
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.models import Annotation, LabelBatch, LabelSource, Membership, Project
from prm.messages import Message

State = LabelBatch.State


def is_set_aside() -> Q:
    """Whether an annotation is in a batch that is set aside, for querysets of annotations."""
    around = LabelBatch.objects.filter(
        state=State.SET_ASIDE, since__lte=OuterRef("submitted_at"), until__gte=OuterRef("submitted_at")
    )
    of_person = Q(Exists(around.filter(annotator=OuterRef("annotator"))))
    return of_person | Q(Exists(around.filter(source=OuterRef("source"))), annotator__isnull=True)


def in_use(labels: QuerySet[Annotation]) -> QuerySet[Annotation]:
    """The labels that are not set aside."""
    return labels.exclude(is_set_aside())


def labels_of_batch(batch: LabelBatch) -> QuerySet[Annotation]:
    """The labels of the batch, including earlier revisions."""
    labels = Annotation.objects.filter(project=batch.project_id, submitted_at__range=(batch.since, batch.until))
    return labels.filter(annotator=batch.annotator_id, **({} if batch.annotator_id else {"source": batch.source_id}))


def count_labels(batches: Iterable[LabelBatch]) -> dict[int, int]:
    """The number of labels of each batch, including earlier revisions, by the batch's id."""
    of_owner = Q(annotator=OuterRef("annotator")) | Q(annotator=None, source=OuterRef("source"))
    labels = Annotation.objects.filter(
        of_owner, project=OuterRef("project"), submitted_at__range=(OuterRef("since"), OuterRef("until"))
    )
    counted = labels.order_by().values("project").annotate(n=Count("pk")).values("n")
    stored = LabelBatch.objects.filter(pk__in=[batch.pk for batch in batches])
    return dict(stored.values_list("pk", Coalesce(Subquery(counted), 0)))


def waits_for_decision(project: Project) -> bool:
    """Whether the policy stops automatic rounds because a suspected batch waits for a decision."""
    if not project.policies.quality.hold_rounds:
        return False
    return project.label_batches.filter(state=State.SUSPECTED).exists()


@transaction.atomic
def set_aside(*, by: User | None, batch: LabelBatch, reason: str = "") -> LabelBatch:
    """Leave the batch's labels out of consensus, training and measuring until `resume`. `by` is None for the policy.

    Raises Forbidden, Conflict (`already_decided`).
    """
    return _decide(by, batch, State.SET_ASIDE, reason)


@transaction.atomic
def resume(*, by: User, batch: LabelBatch, reason: str = "") -> LabelBatch:
    """Take the batch's labels back into use, or end a false suspicion. Raises as `set_aside`."""
    return _decide(by, batch, State.IN_USE, reason)


@transaction.atomic
def set_aside_by_hand(
    *,
    by: User,
    project: Project,
    annotator: Membership | None = None,
    source: LabelSource | None = None,
    since: datetime,
    until: datetime,
    reason: str,
) -> LabelBatch:
    """Set aside labels of one annotator or one source without an alarm.

    Raises Forbidden, DomainError (`invalid_batch`, `empty_batch`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    owner = annotator or source
    if owner is None or (annotator and source) or owner.project_id != project.pk or since > until:
        raise DomainError(Message("invalid_batch"))
    batch = LabelBatch(
        project=project,
        annotator=annotator,
        source=source,
        since=since,
        until=until,
        judge=LabelBatch.Judge.PERSON,
    )
    if not labels_of_batch(batch).exists():
        raise DomainError(Message("empty_batch"))
    batch.save()
    return set_aside(by=by, batch=batch, reason=reason)


def _decide(by: User | None, batch: LabelBatch, state: str, reason: str) -> LabelBatch:
    if by is not None:
        require_role(by, batch.project, Membership.Role.MANAGER)
    batch = LabelBatch.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=batch.pk)
    if batch.state == state:
        raise Conflict(Message("batch_already_decided"), code="already_decided")
    before = batch.state
    batch.state, batch.reason, batch.decided_by, batch.decided_at = state, reason, by, timezone.now()
    batch.save(update_fields=["state", "reason", "decided_by", "decided_at"])
    audit.record(
        by=by,
        action="labels.set_aside" if state == State.SET_ASIDE else "labels.resume",
        target=batch,
        before={"state": before},
        after={"state": state, "reason": reason, "labels": labels_of_batch(batch).count()},
    )
    return batch
