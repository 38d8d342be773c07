"""Shows people what they have just written: a cookie keeps their next pages away from the replica."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from annotation.core import replica

COOKIE = "wrote"
SECONDS = 5  # longer than RECENT_SECONDS, after which every page shows it
READING = ("GET", "HEAD", "OPTIONS")


class OwnWrites:
    """Sets the cookie with the response to every request that may have written."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not replica.is_configured():
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.method not in READING:
            response.set_cookie(
                COOKIE, "1", max_age=SECONDS, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax"
            )
        return response


def may_be_recent(request: HttpRequest) -> bool:
    """Whether the response may lack what was written in the last second, because this person wrote nothing."""
    return request.method in READING and COOKIE not in request.COOKIES
