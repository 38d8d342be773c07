"""Registers webhooks, changes them, and repeats their deliveries. Managers only."""

import base64
import secrets
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.core.jobs import enqueue
from annotation.core.membership.access import require_role
from annotation.core.webhooks.addresses import resolve_destination
from annotation.core.webhooks.events import EVENTS, TASK, TEST, store_delivery, subject_of
from annotation.models import Membership, Project, Webhook, WebhookDelivery
from prm.messages import Message
from stepmark.webhooks import PREFIX

MOST_WEBHOOKS = 20  # of a project
STATES = (Webhook.State.ACTIVE, Webhook.State.PAUSED)  # that a manager may set


@transaction.atomic
def create_webhook(*, by: User, project: Project, url: str, events: list[str]) -> tuple[Webhook, str]:
    """A new webhook, and its secret, which cannot be shown again.

    Raises Forbidden, DomainError (`invalid_webhook_url`, `invalid_events`, `too_many_webhooks`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    _check({"url": url, "events": events})
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if project.webhooks.count() >= MOST_WEBHOOKS:
        raise DomainError(Message("too_many_webhooks", n=MOST_WEBHOOKS))
    webhook = Webhook.objects.create(project=project, url=url, events=events, salt=_new_salt(), created_by=by)
    audit.record(by=by, action="webhook.create", target=webhook, after={"url": url, "events": events})
    return webhook, secret_of(webhook)


@transaction.atomic
def change_webhook(*, by: User, webhook: Webhook, changes: dict[str, Any]) -> Webhook:
    """Change `url`, `events` or `state`. Activating a webhook clears its failures. Raises as `create_webhook`, and
    DomainError (`invalid_webhook_state`)."""
    webhook = _locked(by, webhook)
    _check(changes)
    before = {name: getattr(webhook, name) for name in changes}
    for name, value in changes.items():
        setattr(webhook, name, value)
    if changes.get("state") == Webhook.State.ACTIVE:
        webhook.failing_since = None
    webhook.save(update_fields=[*changes, "failing_since"])
    audit.record(by=by, action="webhook.change", target=webhook, before=before, after=changes)
    return webhook


@transaction.atomic
def replace_secret(*, by: User, webhook: Webhook) -> str:
    """A new secret, which cannot be shown again. The old one is invalid from the next attempt on."""
    webhook = _locked(by, webhook)
    webhook.salt = _new_salt()
    webhook.save(update_fields=["salt"])
    audit.record(by=by, action="webhook.replace_secret", target=webhook)
    return secret_of(webhook)


@transaction.atomic
def delete_webhook(*, by: User, webhook: Webhook) -> None:
    """Delete a webhook with the log of its deliveries."""
    webhook = _locked(by, webhook)
    audit.record(by=by, action="webhook.delete", target=webhook, before={"url": webhook.url, "events": webhook.events})
    webhook.delete()


@transaction.atomic
def send_test(*, by: User, webhook: Webhook) -> WebhookDelivery:
    """Send an event of the type `webhook.test`, once, whatever the state of the webhook."""
    webhook = _locked(by, webhook)
    return store_delivery(webhook, TEST, subject_of(webhook.project, webhook, {}))


@transaction.atomic
def redeliver(*, by: User, delivery: WebhookDelivery) -> WebhookDelivery:
    """Attempt a delivery again now, with the same id and body, and as often as a new one."""
    require_role(by, delivery.webhook.project, Membership.Role.MANAGER)
    delivery = WebhookDelivery.objects.select_for_update().get(pk=delivery.pk)
    delivery.state, delivery.attempts, delivery.next_attempt_at = delivery.State.WAITING, 0, timezone.now()
    delivery.save(update_fields=["state", "attempts", "next_attempt_at"])
    enqueue(TASK, delivery.pk)
    return delivery


def secret_of(webhook: Webhook) -> str:
    """The secret that signs the webhook's deliveries."""
    digest = salted_hmac("annotation.webhook", webhook.salt, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(digest).decode()


def _new_salt() -> str:
    return secrets.token_urlsafe(32)


def _locked(by: User, webhook: Webhook) -> Webhook:
    require_role(by, webhook.project, Membership.Role.MANAGER)
    return Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("project").get(pk=webhook.pk)


def _check(fields: dict[str, Any]) -> None:
    if "url" in fields:
        resolve_destination(fields["url"])
    if "events" in fields:
        unknown = [event for event in fields["events"] if event not in EVENTS]
        if unknown or not fields["events"]:
            known = ", ".join(EVENTS)
            raise DomainError(
                Message("webhook_events_unknown", known=known), {"field": "events"}, code="invalid_events"
            )
    if "state" in fields and fields["state"] not in STATES:
        known = ", ".join(STATES)
        message = Message("webhook_state_unknown", known=known)
        raise DomainError(message, {"field": "state"}, code="invalid_webhook_state")
