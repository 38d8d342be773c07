"""Limits on API calls per minute.

Redis counts the calls, with one round trip per call. While Redis is down, no call is rejected.
"""

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import redis
import structlog
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from annotation.core.errors import DomainError
from annotation.core.membership.client_address import client_address
from annotation.serving.request_queue import ONCE_MORE
from prm.messages import Message

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports the authentication, which imports this module

KEY = "api:calls"
MINUTE = 60
TIMEOUT = 1  # seconds: a Redis that hangs must not delay labelling

log = structlog.get_logger(__name__)


class TooManyRequests(DomainError):
    """More calls than allowed; `wait` is in seconds."""

    status = 429

    def __init__(self, message: Message, limit: int, wait: int) -> None:
        self.wait = wait
        super().__init__(message, {"limit": limit, "retry_after": wait}, code="too_many_requests")


class AccountLimit(BaseThrottle):
    """API_CALLS_PER_MINUTE for each account, over all its tokens and browsers.

    Calls to a scoring worker have limits of their own (`annotation.serving.quotas`, `request_queue`).
    """

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Raises TooManyRequests."""
        limit = settings.API_CALLS_PER_MINUTE
        if getattr(view, "asks_a_worker", False):
            return True
        if wait := _wait(f"account:{request.user.pk}", limit):
            message = Message("calls_exceeded", n=limit, wait=wait)
            raise TooManyRequests(message, limit, wait)
        return True


def count_stranger(request: HttpRequest | Request) -> None:
    """Count a call without a valid token or session by the client's address.

    Raises TooManyRequests beyond API_STRANGER_CALLS_PER_MINUTE. A valid token from that address is still accepted.
    """
    limit = settings.API_STRANGER_CALLS_PER_MINUTE
    if wait := _wait(f"stranger:{client_address(request)}", limit):
        message = Message("calls_without_token_exceeded", n=limit, wait=wait)
        raise TooManyRequests(message, limit, wait)


@lru_cache(maxsize=1)
def redis_client() -> Any:
    """The client, which threads share."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=TIMEOUT, socket_timeout=TIMEOUT, retry=ONCE_MORE
    )


def _wait(who: str, limit: int) -> int:
    """Count a call; returns the seconds until the next minute if it exceeds the limit, else 0. A limit of 0 is none."""
    if not limit:
        return 0
    now = int(time.time())
    key = f"{KEY}:{who}:{now // MINUTE}"
    try:
        calls = int(redis_client().incr(key))
        if calls == 1:
            redis_client().expire(key, 2 * MINUTE)
    except redis.RedisError as error:
        log.warning("api calls not counted", error=str(error))
        return 0
    return MINUTE - now % MINUTE if calls > limit else 0
