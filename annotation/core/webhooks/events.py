"""The events that webhooks receive. An event is an action of the audit log."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.core.jobs import enqueue
from annotation.models import Job, Project, Webhook, WebhookDelivery

EVENTS: dict[str, Any] = {
    "run.done": _("Run finished"),
    "run.failed": _("Run failed"),
    "run.cancelled": _("Run cancelled"),
    "model.promote": _("Model promoted"),
    "generation.open": _("Generation opened"),
    "import.done": _("Import finished"),
    "import.failed": _("Import failed"),
    "snapshot.create": _("Snapshot created"),
    "export.done": _("Export finished"),
    "export.failed": _("Export failed"),
    "judging.done": _("Judging finished"),
    "judging.failed": _("Judging failed"),
    "sampling.done": _("Sampling finished"),
    "sampling.failed": _("Sampling failed"),
    "model.export.done": _("Export of a model finished"),
    "model.export.failed": _("Export of a model failed"),
    "labels.suspect": _("Labels suspected"),
}
TEST = "webhook.test"
TASK = "webhooks.deliver"


class Subject(msgspec.Struct, rename={"kind": "object"}):
    """What an event is about: the `object` is the kind of a job, or the name of another model.

    `details` are those of the audit log.
    """

    project: str
    kind: str
    id: int
    details: dict[str, Any]


class Event(msgspec.Struct):
    """The body of a delivery."""

    type: str
    timestamp: datetime
    data: Subject


def announce(*, action: str, project_id: int | None, target: models.Model, details: dict[str, Any]) -> None:
    """Store a delivery of the event for each webhook that receives it; call it inside the transaction of the event."""
    if action in EVENTS and project_id is not None:
        webhooks = Webhook.objects.filter(project_id=project_id, state=Webhook.State.ACTIVE, events__contains=[action])
        for webhook in webhooks.select_related("project"):
            store_delivery(webhook, action, subject_of(webhook.project, target, details))


def subject_of(project: Project, target: models.Model, details: dict[str, Any]) -> Subject:
    kind = target.KIND if isinstance(target, Job) else target._meta.model_name or ""
    return Subject(project.slug, kind, target.pk, details)


def store_delivery(webhook: Webhook, event: str, subject: Subject) -> WebhookDelivery:
    """A new delivery, which a worker attempts when the transaction commits."""
    body = _ENCODER.encode(Event(event, datetime.now(UTC), subject)).decode()
    delivery = WebhookDelivery.objects.create(webhook=webhook, event=event, body=body)
    enqueue(TASK, delivery.pk)
    return delivery


_ENCODER = msgspec.json.Encoder(enc_hook=str.__str__)  # a message as its English text
