"""Webhooks: which events are stored, how they are sent and repeated, and when a webhook is disabled."""

import socket
from datetime import timedelta
from itertools import pairwise

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import DomainError, Forbidden
from annotation.core.webhooks import addresses, delivery, registration
from annotation.core.webhooks.events import EVENTS
from annotation.models import AuditEntry, Membership, Webhook, WebhookDelivery
from prm.messages import Message
from stepmark import verify_webhook
from tests.factories import MembershipFactory, ProjectFactory, SnapshotFactory
from tests.receiver import receiving

pytestmark = pytest.mark.django_db
State = WebhookDelivery.State


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def manager():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def made(manager, receiver):
    return registration.create_webhook(
        by=manager.user, project=manager.project, url=receiver.url, events=["snapshot.create", "run.failed"]
    )


@pytest.fixture
def webhook(made):
    return made[0]


@pytest.fixture
def snapshot(webhook):
    """A snapshot that was just created, with its event."""
    snapshot = SnapshotFactory(project=webhook.project)
    audit.record(by=None, action="snapshot.create", target=snapshot, after={"why": Message("job_over")})
    return snapshot


def attempt():
    """Attempt the one delivery now."""
    WebhookDelivery.objects.filter(state=State.WAITING).update(next_attempt_at=timezone.now())
    sent = WebhookDelivery.objects.get()
    delivery.deliver(sent.pk)
    sent.refresh_from_db()
    return sent


def test_an_event_is_sent_signed_with_the_secret_that_was_shown(made, receiver, snapshot):
    sent = attempt()
    [(headers, body)] = receiver.requests
    event = verify_webhook(headers, body, made[1])
    assert (event["type"], headers["webhook-id"]) == ("snapshot.create", str(sent.message_id))
    assert event["data"] == {
        "project": snapshot.project.slug,
        "object": "snapshot",
        "id": snapshot.pk,
        "details": {"why": "This job has already ended."},
    }
    assert (sent.state, sent.status, sent.response, sent.attempts) == (State.DELIVERED, 200, "thanks", 1)
    assert headers["Host"] in receiver.url
    delivery.deliver(sent.pk)  # a second message of the broker
    assert len(receiver.requests) == 1


def test_the_secret_is_not_in_the_database(made):
    webhook, secret = made
    assert secret not in str(Webhook.objects.values_list())
    assert registration.replace_secret(by=webhook.created_by, webhook=webhook) != secret
    assert secret not in str(AuditEntry.objects.values_list())


def test_only_chosen_events_of_the_project_are_sent_and_only_if_they_are_committed(webhook):
    audit.record(by=None, action="snapshot.create", target=SnapshotFactory(project=ProjectFactory()))
    audit.record(by=None, action="snapshot.changed", target=SnapshotFactory(project=webhook.project))
    with transaction.atomic():
        audit.record(by=None, action="snapshot.create", target=SnapshotFactory(project=webhook.project))
        assert WebhookDelivery.objects.exists()
        transaction.set_rollback(True)
    assert not WebhookDelivery.objects.exists()
    registration.change_webhook(by=webhook.created_by, webhook=webhook, changes={"state": "paused"})
    audit.record(by=None, action="snapshot.create", target=SnapshotFactory(project=webhook.project))
    assert not WebhookDelivery.objects.exists()


def test_every_event_is_an_action_that_the_platform_records():
    """Jobs record their kind and their state; other actions are named where they are recorded."""
    from annotation.models import Job, ModelJob
    from config.env import BASE_DIR

    ends = {
        f"{kind}.{state}"
        for kind in [*Job.kinds(), *(f"model.{kind}" for kind in ModelJob.Kind)]
        for state in Job.State
    }
    source = "".join(path.read_text() for path in (BASE_DIR / "annotation").rglob("*.py"))
    assert [event for event in EVENTS if event not in ends and f'action="{event}"' not in source] == []


@pytest.mark.slow
def test_a_failed_attempt_is_repeated_with_the_same_id_at_growing_intervals(receiver, snapshot):
    receiver.status, receiver.response = 500, b"x" * 5000
    waits = []
    for number in range(1, delivery.MOST_ATTEMPTS + 1):
        sent = attempt()
        assert (sent.attempts, sent.status, len(sent.response)) == (number, 500, delivery.EXCERPT)
        waits.append(sent.next_attempt_at - timezone.now())
    assert sent.state == State.FAILED
    assert all(first < second for first, second in pairwise(waits[:7]))
    assert waits[0] < timedelta(seconds=15)
    assert max(waits) < timedelta(hours=16)
    assert len({headers["webhook-id"] for headers, _body in receiver.requests}) == 1
    delivery.deliver(sent.pk)
    assert len(receiver.requests) == delivery.MOST_ATTEMPTS


def test_a_delivery_whose_worker_died_is_due_again(receiver, snapshot):
    sent = WebhookDelivery.objects.get()
    assert delivery._claim(sent.pk)  # and then the worker dies
    delivery.deliver(sent.pk)
    assert (delivery.enqueue_due(), receiver.requests) == (0, [])
    WebhookDelivery.objects.update(next_attempt_at=timezone.now())
    assert delivery.enqueue_due() == 1
    delivery.deliver(sent.pk)
    assert len(receiver.requests) == 1


def test_a_redirect_is_a_failure_and_is_not_followed(receiver, snapshot):
    receiver.status, receiver.headers = 307, {"Location": receiver.url}
    assert (attempt().status, len(receiver.requests)) == (307, 1)


def test_a_receiver_that_is_not_there_is_named_in_the_log(webhook, snapshot):
    webhook.url = "http://127.0.0.1:9/"
    webhook.save()
    sent = attempt()
    assert (sent.state, sent.status) == (State.WAITING, None)
    assert sent.error.startswith("The request failed: ")


def test_a_receiver_that_answers_too_slowly_is_named_in_the_log(monkeypatch, snapshot):
    def drip(*_given):
        raise SoftTimeLimitExceeded  # as Celery does after the task's time limit

    monkeypatch.setattr(delivery, "_post", drip)
    sent = attempt()
    assert (sent.state, sent.error) == (State.WAITING, "The receiver did not respond in time.")


def test_a_webhook_that_fails_for_days_is_disabled_and_a_success_clears_its_failures(receiver, webhook, snapshot):
    receiver.status = 503
    attempt()
    webhook.refresh_from_db()
    assert webhook.failing_since is not None
    Webhook.objects.update(failing_since=timezone.now() - delivery.DISABLED_AFTER - timedelta(minutes=1))
    assert attempt().state == State.FAILED
    webhook.refresh_from_db()
    assert webhook.state == Webhook.State.DISABLED
    assert AuditEntry.objects.get(action="webhook.disable").target_id == str(webhook.pk)
    receiver.status = 200
    registration.redeliver(by=webhook.created_by, delivery=WebhookDelivery.objects.get())
    assert attempt().state == State.DELIVERED
    webhook = registration.change_webhook(by=webhook.created_by, webhook=webhook, changes={"state": "active"})
    assert (webhook.state, webhook.failing_since) == (Webhook.State.ACTIVE, None)


def test_a_receiver_that_is_gone_disables_its_webhook(receiver, webhook, snapshot):
    receiver.status = 410
    attempt()
    webhook.refresh_from_db()
    assert webhook.state == Webhook.State.DISABLED


def test_a_delivery_that_fails_while_its_webhook_is_disabled_is_given_up_too(webhook, snapshot):
    first = WebhookDelivery.objects.get()
    audit.record(by=None, action="snapshot.create", target=snapshot)
    under_way = delivery._claim(WebhookDelivery.objects.exclude(pk=first.pk).get().pk)
    delivery._store_outcome(first, delivery.Outcome(delivery.GONE))
    delivery._store_outcome(under_way, delivery.Outcome(delivery.GONE))
    assert not WebhookDelivery.objects.filter(state=State.WAITING).exists()


@pytest.mark.parametrize("status", [200, 500])
def test_a_delivery_requested_again_during_an_attempt_is_attempted_again(receiver, webhook, snapshot, status):
    under_way = delivery._claim(WebhookDelivery.objects.get().pk)
    registration.redeliver(by=webhook.created_by, delivery=WebhookDelivery.objects.get())
    delivery._store_outcome(under_way, delivery.Outcome(status))
    assert delivery.enqueue_due() == 1
    again = delivery._claim(under_way.pk)
    delivery._store_outcome(again, delivery.Outcome(204))
    delivery._store_outcome(under_way, delivery.Outcome(500))  # later than the result of the second attempt
    sent = WebhookDelivery.objects.get()
    assert (sent.state, sent.status, sent.attempts) == (State.DELIVERED, 204, 1)


def test_a_test_is_sent_once(receiver, webhook):
    receiver.status = 500
    registration.send_test(by=webhook.created_by, webhook=webhook)
    assert (attempt().state, WebhookDelivery.objects.get().event) == (State.FAILED, "webhook.test")


def test_old_deliveries_are_forgotten_unless_they_wait(snapshot):
    WebhookDelivery.objects.update(created_at=timezone.now() - delivery.KEPT - timedelta(days=1))
    assert delivery.forget_deliveries() == 0
    WebhookDelivery.objects.update(state=State.FAILED)
    assert delivery.forget_deliveries() == 1


def test_only_managers_register(made):
    webhook, _secret = made
    reviewer = MembershipFactory(project=webhook.project, role=Membership.Role.REVIEWER).user
    named = {"by": reviewer, "webhook": webhook}
    for refused in (
        lambda: registration.create_webhook(by=reviewer, project=webhook.project, url=webhook.url, events=["run.done"]),
        lambda: registration.change_webhook(**named, changes={"state": "paused"}),
        lambda: registration.replace_secret(**named),
        lambda: registration.delete_webhook(**named),
        lambda: registration.send_test(**named),
    ):
        with pytest.raises(Forbidden):
            refused()


def test_events_and_states_that_do_not_exist_are_rejected(webhook):
    for changes, code in (
        ({"events": ["run.begun"]}, "invalid_events"),
        ({"events": []}, "invalid_events"),
        ({"state": "disabled"}, "invalid_webhook_state"),
    ):
        with pytest.raises(DomainError) as refused:
            registration.change_webhook(by=webhook.created_by, webhook=webhook, changes=changes)
        assert refused.value.code == code


def resolving(monkeypatch, *ips):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, 443)) for ip in ips]
    monkeypatch.setattr(addresses.socket, "getaddrinfo", lambda *_given, **_named: found)


@pytest.mark.parametrize(
    "ip",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
        "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "::",
    ],
)  # fmt: skip
def test_a_host_with_a_private_address_is_refused(monkeypatch, ip):
    resolving(monkeypatch, "93.184.215.14", ip)
    with pytest.raises(DomainError, match=r"private address .* WEBHOOK_PRIVATE_HOSTS") as refused:
        addresses.resolve_destination("https://hooks.example.org/")
    assert refused.value.code == "invalid_webhook_url"


def test_a_public_host_is_connected_to_by_the_address_that_was_checked(monkeypatch):
    resolving(monkeypatch, "93.184.215.14")
    destination = addresses.resolve_destination("https://hooks.example.org:8443/a?b=c#d")
    assert (destination.url, destination.host) == ("https://93.184.215.14:8443/a?b=c", "hooks.example.org")
    resolving(monkeypatch, "2606:2800:21f:cb07::1")
    assert addresses.resolve_destination("https://hooks.example.org/").url == "https://[2606:2800:21f:cb07::1]/"


def test_plain_http_and_private_addresses_need_the_operator(monkeypatch, settings):
    resolving(monkeypatch, "10.1.2.3")
    with pytest.raises(DomainError, match="must begin with https"):
        addresses.resolve_destination("http://hooks.internal/")
    settings.WEBHOOK_PRIVATE_HOSTS = ["hooks.internal"]
    assert addresses.resolve_destination("http://hooks.internal/").ip == "10.1.2.3"


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org/", "https://", "https://me:secret@example.org/", "https://example.org:x/",
     "https://example.org/a b", "https://example.org/\n", "https://[::1", "https://example.org/" + "a" * 500],
)  # fmt: skip
def test_what_is_no_address_is_refused(url):
    with pytest.raises(DomainError, match="not the address of a webhook"):
        addresses.resolve_destination(url)


def test_a_host_that_turned_private_after_registration_is_not_contacted(monkeypatch, settings, receiver, snapshot):
    settings.WEBHOOK_PRIVATE_HOSTS = []
    Webhook.objects.update(url="https://hooks.example.org/")
    resolving(monkeypatch, "127.0.0.1")
    sent = attempt()
    assert (sent.status, receiver.requests) == (None, [])
    assert "private address 127.0.0.1" in sent.error
