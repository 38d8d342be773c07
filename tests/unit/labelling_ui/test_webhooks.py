"""The pages of a project's webhooks."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.core.webhooks.delivery import deliver
from annotation.models import Project, Webhook, WebhookDelivery
from tests.receiver import receiving

pytestmark = pytest.mark.usefixtures("project")
PAGE = "/p/algebra/settings/webhooks/"


def secret_on(page: str) -> str:
    found = re.search(r"whsec_[\w+/=]+", page)
    return found[0] if found else ""


def test_create_test_look_and_deliver_again(manager: Client) -> None:
    with receiving() as receiver:
        made = manager.post(PAGE, {"url": receiver.url, "events": ["run.done"]}).content.decode()
        assert secret_on(made)
        webhook = Webhook.objects.get()
        page = f"{PAGE}{webhook.pk}/"
        assert not secret_on(manager.get(PAGE).content.decode() + manager.get(page).content.decode())
        assert manager.post(f"{page}test/").status_code == 302
        sent = WebhookDelivery.objects.get()
        deliver(sent.pk)
        shown = manager.get(page).content.decode()
        assert "thanks" in shown
        assert str(sent.message_id) in shown
        manager.post(f"{page}deliveries/{sent.pk}/redeliver/")
        deliver(sent.pk)
        assert len(receiver.requests) == 2
    replaced = manager.post(f"{page}replace-secret/").content.decode()
    assert secret_on(replaced) not in ("", secret_on(made))
    manager.post(f"{page}delete/")
    assert not Webhook.objects.exists()


def test_change_pause_and_activate(manager: Client) -> None:
    manager.post(PAGE, {"url": "http://127.0.0.1:9/", "events": ["run.done"]})
    webhook = Webhook.objects.get()
    page = f"{PAGE}{webhook.pk}/"
    manager.post(page, {"url": "http://127.0.0.1:9/other", "events": ["run.failed", "import.done"]})
    manager.post(f"{page}pause/")
    webhook.refresh_from_db()
    assert (webhook.url[-5:], webhook.events, webhook.state) == ("other", ["run.failed", "import.done"], "paused")
    manager.post(f"{page}activate/")
    webhook.refresh_from_db()
    assert webhook.state == "active"
    assert manager.post(f"{page}nothing/").status_code == 404


def test_a_refused_address_is_named_at_its_field(manager: Client) -> None:
    page = manager.post(PAGE, {"url": "http://10.0.0.1/", "events": ["run.done"]}).content.decode()
    assert "must begin with https://" in page
    assert 'value="http://10.0.0.1/"' in page
    assert "Choose at least one event" in manager.post(PAGE, {"url": "http://127.0.0.1:9/"}).content.decode()
    assert not Webhook.objects.exists()


def test_the_overview_shows_a_disabled_webhook(manager: Client, project: Project, people: dict[str, User]) -> None:
    Webhook.objects.create(project=project, url="https://a.org/", state="disabled", created_by=people["manager"])
    assert "webhook that was disabled after failures" in manager.get("/p/algebra/").content.decode()
