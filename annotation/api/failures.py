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

ROOT = "/api/"
RETRY_AFTER = 5  # seconds: a restart takes about as long

UNAVAILABLE = (
    "database_unavailable",
    gettext_lazy(
        "The database does not answer at this moment. Send the same again in some seconds: nothing is kept twice."
    ),
)
STORAGE_FULL = (
    "storage_full",
    gettext_lazy(
        "The disk of the server is full, so nothing can be saved. Tell your operator, and send the same again later."
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
    """503 if a backing server is temporarily down or full. Otherwise a defect, whose reason is in the log."""
    outage = _outage(sys.exception())  # Django asks for this answer while it handles the exception
    if outage is None:
        message = _("Something went wrong on our side. Try again in a moment. Your saved work is safe.")
        return _answer(request, 500, "server_error", message, defaults.server_error)
    answer = _answer(request, 503, *outage, _unavailable_page)
    answer["Retry-After"] = str(RETRY_AFTER)
    return answer


def _outage(error: BaseException | None) -> tuple[str, Promise] | None:
    """`(code, message)` of an outage that passes by itself or that an operator can fix, else None."""
    if isinstance(error, OperationalError | InterfaceError):
        return STORAGE_FULL if isinstance(error.__cause__, DiskFull) else UNAVAILABLE
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return STORAGE_FULL
    return None


def _unavailable_page(request: HttpRequest) -> HttpResponse:
    # Without the request: the parts of a page that look into the database would fail again.
    return HttpResponse(loader.get_template("503.html").render(), status=503)


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
