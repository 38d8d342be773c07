"""Responses to requests that reach no API view or fail unexpectedly in one.

Django's own handlers would return an HTML page. Under `/api/`, programs get the error body instead.
"""

import errno
import sys
from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template import loader
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import defaults
from psycopg.errors import DiskFull
from redis import RedisError

ROOT = "/api/"
RETRY_AFTER = 5  # seconds: a restart takes about as long

UNAVAILABLE = (
    "database_unavailable",
    gettext_lazy("The database is not responding. Send the request again in a few seconds. Nothing is stored twice."),
)
REDIS_UNAVAILABLE = (
    "redis_unavailable",
    gettext_lazy("Redis is not responding. Send the request again in a few seconds."),
)
STORAGE_FULL = (
    "storage_full",
    gettext_lazy(
        "The server's disk is full, so nothing can be saved. Tell your operator, and send the request again later."
    ),
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """A request that Django rejects before it resolves the address."""
    return _answer(request, 400, "bad_request", _("The request cannot be read."), defaults.bad_request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """An address above the API's versions."""
    message = _("There is nothing at %(path)s. The API is under %(root)s.")
    named = message % {"path": request.path, "root": f"{ROOT}v1/"}
    return _answer(request, 404, "not_found", named, defaults.page_not_found, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """503 if the database, Redis or a disk is unavailable or full; otherwise 500, with the reason in the log."""
    outage = _outage(sys.exception())  # Django calls this view while it handles the exception
    if outage is None:
        message = _("Something went wrong on our side. Try again in a moment. Your saved work is safe.")
        return _answer(request, 500, "server_error", message, defaults.server_error)
    answer = _answer(request, 503, *outage, _unavailable_page)
    answer["Retry-After"] = str(RETRY_AFTER)
    return answer


def _outage(error: BaseException | None) -> tuple[str, Promise] | None:
    """The `(code, message)` of an outage, which ends by itself or by the operator; None for any other error."""
    if isinstance(error, OperationalError | InterfaceError):
        return STORAGE_FULL if isinstance(error.__cause__, DiskFull) else UNAVAILABLE
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return STORAGE_FULL
    if isinstance(error, RedisError):
        return REDIS_UNAVAILABLE
    return None


def _unavailable_page(request: HttpRequest) -> HttpResponse:
    # Rendered without the request, because the parts of a page that read the database would fail again.
    context = {"redis": isinstance(sys.exception(), RedisError)}
    return HttpResponse(loader.get_template("503.html").render(context), status=503)


def _answer(
    request: HttpRequest,
    status: int,
    code: str,
    message: str | Promise,
    page: Callable[..., HttpResponseBase],
    *arguments: Exception,
) -> HttpResponseBase:
    if request.path.startswith(ROOT):
        return JsonResponse({"code": code, "message": str(message), "extra": {}}, status=status)
    return page(request, *arguments)
