"""Delivers events to webhooks: at least once, with retries at growing intervals.

A worker claims a delivery by moving the time of its next attempt, and holds no lock while it waits for the response. If
it dies, the delivery is due again. The sweep enqueues what is due, so a lost message of the broker costs only time.
"""

import random
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.core.jobs import enqueue
from annotation.core.webhooks.addresses import Destination, resolve_destination
from annotation.core.webhooks.events import TASK, TEST
from annotation.core.webhooks.registration import secret_of
from annotation.models import Webhook, WebhookDelivery
from prm.messages import Message
from prm.servers import trusted_certificates
from stepmark.webhooks import sign_webhook

TIMEOUT = 10.0  # seconds to connect, and between two parts of the response
CLAIMED = timedelta(minutes=1)  # longer than any attempt, which the task's time limit ends
FIRST_WAIT, LONGEST_WAIT = 10, 12 * 3600  # seconds
MOST_ATTEMPTS = 10  # over about a day and a half
DISABLED_AFTER = timedelta(days=3)  # of failures without a success
KEPT = timedelta(days=30)
EXCERPT = 1000  # bytes of a response
AT_ONCE = 100  # deliveries that one sweep enqueues
GONE = 410

State = WebhookDelivery.State


@dataclass(frozen=True)
class Outcome:
    """What an attempt brought: the response, or the reason why there is none."""

    status: int | None = None
    response: str = ""
    error: str = ""

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def deliver(delivery_id: int) -> None:
    """Attempt a delivery if it is due and no other worker attempts it."""
    delivery = _claim(delivery_id)
    if delivery is not None:
        _store_outcome(delivery, _attempt(delivery))


def enqueue_due() -> int:
    """Enqueue the deliveries that are due; returns how many."""
    due = WebhookDelivery.objects.filter(state=State.WAITING, next_attempt_at__lte=timezone.now())
    ids = list(due.order_by("next_attempt_at").values_list("pk", flat=True)[:AT_ONCE])
    for pk in ids:
        enqueue(TASK, pk)
    return len(ids)


def forget_deliveries() -> int:
    """Delete the deliveries that ended and are older than KEPT; returns how many."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT).exclude(state=State.WAITING)
    return old.delete()[0]


def wait_after(attempts: int) -> timedelta:
    """The time until the next attempt: exponential, with jitter, so that a receiver that recovers is not flooded."""
    return timedelta(seconds=min(LONGEST_WAIT, FIRST_WAIT * 4 ** (attempts - 1)) * random.uniform(0.75, 1.25))


@transaction.atomic
def _claim(pk: int) -> WebhookDelivery | None:
    rows = WebhookDelivery.objects.select_for_update(of=("self",), skip_locked=True).select_related("webhook__project")
    now = timezone.now()
    delivery = rows.filter(pk=pk, state=State.WAITING, next_attempt_at__lte=now).first()
    if delivery is not None:
        delivery.attempts += 1
        delivery.attempted_at, delivery.next_attempt_at = now, now + CLAIMED
        delivery.save(update_fields=["attempts", "attempted_at", "next_attempt_at"])
    return delivery


def _attempt(delivery: WebhookDelivery) -> Outcome:
    try:
        return _post(delivery, resolve_destination(delivery.webhook.url))
    except DomainError as error:
        return Outcome(error=error.message)
    except (TimeoutError, httpx2.TimeoutException, SoftTimeLimitExceeded):
        return Outcome(error=Message("webhook_timed_out"))
    except (httpx2.HTTPError, OSError) as error:
        return Outcome(error=Message("webhook_unreachable", error=str(error) or type(error).__name__))


def _post(delivery: WebhookDelivery, destination: Destination) -> Outcome:
    """One request. It follows no redirect, which could lead into the private network, and uses no proxy."""
    body, now = delivery.body.encode(), int(time.time())
    identity = str(delivery.message_id)
    headers = {
        "Host": destination.parts.netloc,
        "Content-Type": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "Stepmark",
        "webhook-id": identity,
        "webhook-timestamp": str(now),
        "webhook-signature": sign_webhook(secret_of(delivery.webhook), id=identity, timestamp=now, body=body),
    }
    named = {"sni_hostname": destination.host}  # the certificate is verified against the name
    with (
        httpx2.Client(
            verify=trusted_certificates(), timeout=TIMEOUT, trust_env=False, follow_redirects=False
        ) as client,
        client.stream("POST", destination.url, content=body, headers=headers, extensions=named) as response,
    ):
        return Outcome(response.status_code, _excerpt(response))


def _excerpt(response: httpx2.Response) -> str:
    held = b""
    for part in response.iter_raw(EXCERPT):
        held += part
        if len(held) >= EXCERPT:
            break
    return held[:EXCERPT].decode(errors="replace").replace("\0", "")


@transaction.atomic
def _store_outcome(delivery: WebhookDelivery, outcome: Outcome) -> None:
    rows = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("project")
    receiver = rows.filter(pk=delivery.webhook_id).first()
    if receiver is None:
        return  # deleted during the attempt
    result: dict[str, Any] = {"status": outcome.status, "response": outcome.response, "error": outcome.error}
    if outcome.succeeded:
        result["state"], receiver.failing_since = State.DELIVERED, None
    else:
        most = 1 if delivery.event == TEST or receiver.state == Webhook.State.DISABLED else MOST_ATTEMPTS
        result["state"] = State.FAILED if delivery.attempts >= most else State.WAITING
        result["next_attempt_at"] = timezone.now() + wait_after(delivery.attempts)
        receiver.failing_since = receiver.failing_since or timezone.now()
    # A delivery that was claimed or requested again since then has another time, and keeps its state.
    claimed = WebhookDelivery.objects.filter(pk=delivery.pk, next_attempt_at=delivery.next_attempt_at)
    claimed.update(**result)
    receiver.save(update_fields=["failing_since"])
    lasting = receiver.failing_since is not None and timezone.now() - receiver.failing_since > DISABLED_AFTER
    if receiver.state == Webhook.State.ACTIVE and (lasting or outcome.status == GONE):
        _disable(receiver)


def _disable(webhook: Webhook) -> None:
    """Stop sending events, and give up the deliveries that wait. The overview shows it to the managers."""
    before, webhook.state = webhook.state, Webhook.State.DISABLED
    webhook.save(update_fields=["state"])
    webhook.deliveries.filter(state=State.WAITING).update(state=State.FAILED)
    audit.record(
        by=None, action="webhook.disable", target=webhook, before={"state": before}, after={"state": webhook.state}
    )
