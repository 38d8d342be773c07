"""Answers for requests that never reached a view of the API, or that failed in one unexpectedly.

Django's own handlers would answer programs with a page; under `/api/` they get the error body instead.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views import defaults

ROOT = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """A request that Django refuses before it looks at the address."""
    return _answer(request, 400, "bad_request", "The request cannot be read.", defaults.bad_request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """An address above the API's versions."""
    message = f"There is nothing at {request.path}: the API is under {ROOT}v1/."
    return _answer(request, 404, "not_found", message, defaults.page_not_found, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    """A defect, or a server that does not answer; the log has the reason."""
    message = "Something went wrong on our side. Try again in a moment; what was saved before is kept."
    return _answer(request, 500, "server_error", message, defaults.server_error)


def _answer(
    request: HttpRequest,
    status: int,
    code: str,
    message: str,
    page: Callable[..., HttpResponseBase],
    *arguments: Exception,
) -> HttpResponseBase:
    if request.path.startswith(ROOT):
        return JsonResponse({"code": code, "message": message, "extra": {}}, status=status)
    return page(request, *arguments)
