"""The address of allauth's password reset: this server sends no e-mail, and says so to everybody alike."""

import pytest
from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_mail(settings):
    """As in production where nobody configured mail: nothing listens."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1


def test_a_password_reset_is_answered_plainly_and_alike_for_every_name(client):
    User.objects.create_user("ada", email="ada@example.org", password="one-two-buckle-my-shoe")
    answers = [client.post("/accounts/password/reset/", {"email": f"{name}@example.org"}) for name in ("ada", "nobody")]
    pages = [client.get("/accounts/password/reset/"), *answers]
    assert {page.status_code for page in pages} == {200}
    assert pages[0].content == answers[0].content == answers[1].content
    assert "does not send e-mail" in pages[0].content.decode()


@pytest.mark.parametrize(
    "address", ["signup/", "email/", "confirm-email/", "confirm-email/abc/", "password/reset/done/",
                "password/reset/key/1-abc/", "password/set/", "login/code/confirm/", "reauthenticate/", "inactive/"]
)  # fmt: skip
def test_no_other_address_of_accounts_fails(client, address):
    client.raise_request_exception = False
    sent = {"email": "ada@example.org", "username": "x", "password1": "a-b-c-d-e-f", "password2": "a-b-c-d-e-f"}
    for answer in (client.get(f"/accounts/{address}"), client.post(f"/accounts/{address}", sent)):
        assert answer.status_code < 500


def test_nor_does_the_page_of_addresses_send_any(client, admin_user):
    client.force_login(admin_user)
    answer = client.post("/accounts/email/", {"action_add": "", "email": "new@example.org"})
    assert (answer.status_code, "does not send e-mail" in answer.content.decode()) == (200, True)
