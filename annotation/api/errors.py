"""Converts every error into a response with the body `{"code", "message", "extra"}`."""

from typing import Annotated, Any

import msgspec
from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import RequestDataTooBig
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from annotation.core.bounds import JSONObject, about
from annotation.core.errors import DomainError
from annotation.core.wording import in_words


class ErrorBody(msgspec.Struct):
    """What is wrong and what to do. `code` is stable; `extra.field` names the place in the request."""

    code: str
    message: Annotated[str, about("What is wrong and what to do, as a sentence.")]
    extra: Annotated[JSONObject, about("Details; `field` names the place in the request.")]


class TooLarge(APIException):
    """A JSON body above the size limit."""

    status_code = 413
    default_code = "too_large"
    default_detail = gettext_lazy("This request is too large. Files go to imports.")


class NothingHere(APIView):
    """Any unknown address under the API's root."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound(_("The API has no address %(path)s.") % {"path": request.path})


def present_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. An unexpected error stays a 500."""
    if isinstance(error, DomainError):
        set_rollback()
        return _body(error.status, error.code, in_words(error.message), error.extra, _retry_after(error))
    if isinstance(error, Http404):
        error = NotFound()
    elif isinstance(error, DjangoPermissionDenied):
        error = PermissionDenied()
    elif isinstance(error, RequestDataTooBig):
        error = TooLarge()
    if not isinstance(error, APIException):
        return None
    set_rollback()
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    headers |= _retry_after(error)
    return _body(error.status_code, str(error.get_codes()), str(error.detail), {}, headers)


def _retry_after(error: Exception) -> dict[str, str]:
    wait = getattr(error, "wait", None)
    return {"Retry-After": str(int(wait))} if wait else {}


def _body(
    status: int, code: str, message: str, extra: dict[str, Any], headers: dict[str, str] | None = None
) -> Response:
    body = msgspec.structs.asdict(ErrorBody(code, message, extra))  # the schema is also rendered as YAML
    return Response(body, status=status, headers=headers)
