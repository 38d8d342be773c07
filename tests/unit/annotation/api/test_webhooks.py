"""Webhooks over the HTTP API."""

import pytest
from rest_framework.test import APIClient

from annotation.core import audit
from annotation.core.webhooks.delivery import deliver
from annotation.models import Membership, WebhookDelivery
from tests.factories import MembershipFactory, SnapshotFactory
from tests.receiver import receiving

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def client(manager):
    client = APIClient()
    client.force_login(manager.user)
    return client


def test_register_receive_look_and_deliver_again(manager, client):
    address = f"/api/v1/projects/{manager.project.slug}/webhooks/"
    with receiving() as receiver:
        made = client.post(address, {"url": receiver.url, "events": ["snapshot.create"]}, format="json")
        assert made.status_code == 201, made.json()
        secret, webhook = made.json()["secret"], f"/api/v1/webhooks/{made.json()['id']}/"
        assert secret.startswith("whsec_")
        [listed] = client.get(address).json()["results"]
        assert listed == client.get(webhook).json()
        assert "secret" not in listed
        audit.record(by=None, action="snapshot.create", target=SnapshotFactory(project=manager.project))
        deliver(WebhookDelivery.objects.get().pk)
        [sent] = client.get(f"{webhook}deliveries/").json()["results"]
        assert (sent["event"], sent["state"], sent["response"]) == ("snapshot.create", "delivered", "thanks")
        again = client.post(f"{webhook}deliveries/{sent['id']}/redeliver/")
        assert (again.status_code, again.json()["state"], again.json()["message_id"]) == (
            202, "waiting", sent["message_id"],
        )  # fmt: skip
        deliver(sent["id"])
        assert len(receiver.requests) == 2
    assert client.post(f"{webhook}test/").json()["event"] == "webhook.test"
    assert client.post(f"{webhook}replace-secret/").json()["secret"] != secret
    assert client.patch(webhook, {"state": "paused"}, format="json").json()["state"] == "paused"
    assert client.delete(webhook).status_code == 204
    assert not WebhookDelivery.objects.exists()


@pytest.mark.parametrize(
    ("changed", "code", "field"),
    [
        ({"url": "http://10.0.0.1/"}, "invalid_webhook_url", "url"),
        ({"events": []}, "invalid", "events"),
        ({"events": ["annotation.submit"]}, "invalid", "events[0]"),
    ],
)
def test_what_cannot_be_registered_is_named(manager, client, changed, code, field):
    body = {"url": "http://127.0.0.1:9/", "events": ["run.done"]} | changed
    refused = client.post(f"/api/v1/projects/{manager.project.slug}/webhooks/", body, format="json")
    assert (refused.status_code, refused.json()["code"], refused.json()["extra"]["field"]) == (400, code, field)


def test_a_delivery_of_another_webhook_is_not_found(manager, client):
    address = f"/api/v1/projects/{manager.project.slug}/webhooks/"
    webhook = client.post(address, {"url": "http://127.0.0.1:9/", "events": ["run.done"]}, format="json").json()
    answer = client.post(f"/api/v1/webhooks/{webhook['id']}/deliveries/1/redeliver/")
    assert (answer.status_code, answer.json()["code"]) == (404, "delivery_not_found")
