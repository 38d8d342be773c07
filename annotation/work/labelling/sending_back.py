"""A reviewer sends a label back with a reason, and its annotator submits it again."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import STAFF, require_role
from annotation.models import HIDDEN_LANES, Annotation, Membership, SentBack
from prm.messages import Message
from prm.vocabulary import MACHINES

State = SentBack.State


@transaction.atomic
def send_back(*, by: User, annotation: Annotation, reason: str) -> SentBack:
    """Ask an annotator to look at their label again. The label counts until they submit a revision.

    Raises Forbidden, DomainError (`reason_needed`; `not_revisable`: the label is imported, by a machine or an answer to
    gold, or its annotator has left), Conflict (`replaced` by a newer revision; `sent_back_already`).
    """
    require_role(by, annotation.project, *STAFF)
    if not reason.strip():
        raise DomainError(Message("send_back_reason_needed"), {"field": "reason"}, code="reason_needed")
    # The lock of a submission, so that a revision is either stored before this request or answers it.
    annotator = Membership.objects.select_for_update(no_key=True).get(pk=_reviser(annotation).pk)
    latest = (
        Annotation.objects.filter(annotator=annotator, solution=annotation.solution_id).order_by("-revision").first()
    )
    if latest != annotation:
        raise Conflict(Message("replaced"))
    if SentBack.objects.filter(annotation=annotation, state=State.OPEN).exists():
        raise Conflict(Message("sent_back_already"))
    sent = SentBack.objects.create(project_id=annotation.project_id, annotation=annotation, reason=reason, by=by)
    _record(by, "sent_back.open", sent, before={})
    return sent


@transaction.atomic
def take_back(*, by: User, sent: SentBack) -> SentBack:
    """Withdraw a request to revise a label. Raises Forbidden, Conflict (`sent_back_ended`)."""
    require_role(by, sent.project, *STAFF)
    sent = SentBack.objects.select_for_update(no_key=True, of=("self",)).get(pk=sent.pk)
    if sent.state != State.OPEN:
        raise Conflict(Message("sent_back_ended"), {"state": sent.state})
    return _end(sent, State.WITHDRAWN, by=by)


def answer_sent_back(*, by: User, annotation: Annotation) -> None:
    """End the open requests to revise the annotator's earlier revisions, which this one replaces."""
    waiting = SentBack.objects.select_for_update(no_key=True, of=("self",)).filter(
        annotation__annotator=annotation.annotator_id, annotation__solution=annotation.solution_id, state=State.OPEN
    )
    for sent in waiting:
        sent.answer = annotation
        _end(sent, State.ANSWERED, by=by)


def sent_back_to(membership: Membership) -> QuerySet[SentBack]:
    """The open requests to a person to revise their labels, earliest first."""
    waiting = SentBack.objects.filter(project=membership.project_id, annotation__annotator=membership, state=State.OPEN)
    return waiting.select_related("annotation__solution__problem", "by").order_by("pk")


def _reviser(annotation: Annotation) -> Membership:
    """The annotator, who can revise the label. Raises DomainError (`not_revisable`)."""
    annotator = annotation.annotator
    if annotator is None or annotation.lease_id is None or annotation.lane in HIDDEN_LANES:
        raise DomainError(Message("label_not_sendable"), code="not_revisable")
    if annotator.kind == Membership.Kind.SIMULATED or annotation.source.kind in MACHINES or not annotator.active:
        raise DomainError(Message("annotator_left"), code="not_revisable")
    return annotator


def _end(sent: SentBack, state: State, *, by: User) -> SentBack:
    before = _audit_values(sent)
    sent.state, sent.ended_at = state, timezone.now()
    sent.save(update_fields=["state", "answer", "ended_at"])
    _record(by, f"sent_back.{'answer' if state == State.ANSWERED else 'take_back'}", sent, before=before)
    return sent


def _record(by: User, action: str, sent: SentBack, *, before: dict[str, Any]) -> None:
    audit.record(by=by, action=action, target=sent, before=before, after=_audit_values(sent))


def _audit_values(sent: SentBack) -> dict[str, Any]:
    return {"state": sent.state, "annotation": sent.annotation_id, "reason": sent.reason, "answer": sent.answer_id}
