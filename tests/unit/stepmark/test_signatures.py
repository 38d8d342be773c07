"""Signatures of webhooks: the specification's own example, and what a receiver rejects."""

import json
import time

import pytest

from stepmark import WebhookError, verify_webhook
from stepmark.webhooks import sign_webhook

# From the test suites of the libraries of Standard Webhooks.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, SENT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def headers(body: bytes = BODY, **changed: str) -> dict[str, str]:
    now = int(time.time())
    signature = sign_webhook(SECRET, id=ID, timestamp=now, body=body)
    return {"Webhook-Id": ID, "Webhook-Timestamp": str(now), "Webhook-Signature": signature} | changed


def test_the_signature_is_that_of_the_specification():
    assert sign_webhook(SECRET, id=ID, timestamp=SENT, body=BODY) == SIGNATURE


def test_an_authentic_delivery_is_its_event():
    assert verify_webhook(headers(), BODY, SECRET) == json.loads(BODY)


def test_one_signature_of_several_is_enough():
    several = f"v1,b3RoZXI= {headers()['Webhook-Signature']} v2,bmV3"
    assert verify_webhook(headers(**{"Webhook-Signature": several}), BODY, SECRET)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"Webhook-Signature": "v1,AAAA"}, "does not match"),
        ({"Webhook-Id": "another"}, "does not match"),
        ({"Webhook-Timestamp": str(SENT)}, "more than 300 seconds away"),
        ({"Webhook-Timestamp": "soon"}, "more than 300 seconds away"),
    ],
)
def test_what_was_changed_or_is_old_is_rejected(changed, reason):
    with pytest.raises(WebhookError, match=reason):
        verify_webhook(headers(**changed), BODY, SECRET)


def test_another_body_another_secret_and_a_missing_header_are_rejected():
    with pytest.raises(WebhookError, match="does not match"):
        verify_webhook(headers(), BODY + b" ", SECRET)
    with pytest.raises(WebhookError, match="does not match"):
        verify_webhook(headers(), BODY, "whsec_AAAA")
    for secret in ("whsec_!", "whsec_ä"):
        with pytest.raises(WebhookError, match="not base64"):
            verify_webhook(headers(), BODY, secret)
    with pytest.raises(WebhookError, match="no header 'webhook-id'"):
        verify_webhook({}, BODY, SECRET)
