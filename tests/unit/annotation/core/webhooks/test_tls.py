"""A webhook connects to the address that was checked, and the certificate must be that of the name."""

import shutil
import socket
import ssl
import subprocess

import pytest

from annotation.core.webhooks import delivery, registration
from annotation.models import Membership
from tests.factories import MembershipFactory
from tests.receiver import receiving

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        shutil.which("openssl") is None, reason="openssl, which makes the certificate, is not installed"
    ),
]
NAME = "hooks.example.org"


@pytest.fixture
def receiver(tmp_path, monkeypatch, settings):
    """A receiver with a certificate for NAME, which deliveries trust; every name leads to it."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(delivery, "trusted_certificates", lambda: trusting)

    def lead_here(_host, port, *_given, **_named):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", lead_here)
    settings.WEBHOOK_PRIVATE_HOSTS = [NAME, "other.example.org"]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiving(context) as receiver:
        yield receiver


def send(receiver, name):
    """Send a test to the receiver under a name; returns the delivery."""
    manager = MembershipFactory(role=Membership.Role.MANAGER)
    webhook, _secret = registration.create_webhook(
        by=manager.user, project=manager.project, url=receiver.url.replace("127.0.0.1", name), events=["run.done"]
    )
    sent = registration.send_test(by=manager.user, webhook=webhook)
    delivery.deliver(sent.pk)
    sent.refresh_from_db()
    return sent


def test_the_certificate_of_the_name_is_accepted_at_the_checked_address(receiver):
    assert send(receiver, NAME).state == "delivered"
    [(headers, _body)] = receiver.requests
    assert headers["Host"].startswith(NAME)


def test_the_certificate_of_another_name_is_rejected(receiver):
    sent = send(receiver, "other.example.org")
    assert (sent.state, sent.status, receiver.requests) == ("failed", None, [])
    assert "certificate verify failed" in sent.error
