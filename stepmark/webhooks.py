"""Signatures of webhooks, as Standard Webhooks (standardwebhooks.com) defines them.

A delivery has the headers `webhook-id`, `webhook-timestamp` (seconds since 1970) and `webhook-signature`. A signature
is `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. The header may have several, separated by spaces.
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

PREFIX = "whsec_"
TOLERANCE = 300  # seconds between the sender's clock and the receiver's


class WebhookError(ValueError):
    """The request is not an authentic, recent delivery."""


def sign_webhook(secret: str, *, id: str, timestamp: int, body: bytes) -> str:
    """The signature of a delivery, for the header `webhook-signature`. Raises WebhookError for a malformed secret."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except ValueError:
        raise WebhookError(f"The secret is not base64 after `{PREFIX}`. Copy it again.") from None
    digest = hmac.digest(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(digest).decode()


def verify_webhook(headers: Mapping[str, str], body: bytes, secret: str) -> dict[str, Any]:
    """The event of a delivery: `type`, `timestamp` and `data`.

    `body` is the request's body as it arrived: signatures are of bytes. A delivery may arrive more than once, always
    with the same `webhook-id`. Raises WebhookError.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        identity, sent, signatures = (named[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as error:
        raise WebhookError(f"The request has no header {error}.") from None
    if not sent.isdecimal() or abs(time.time() - int(sent)) > TOLERANCE:
        raise WebhookError(f"The timestamp {sent!r} is more than {TOLERANCE} seconds away. Check this machine's clock.")
    expected = sign_webhook(secret, id=identity, timestamp=int(sent), body=body)
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures.split()):
        raise WebhookError("The signature does not match. Compare the secret with that of the webhook.")
    event: dict[str, Any] = json.loads(body)
    return event
