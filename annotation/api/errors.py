"""Every error has the body `{"code", "message", "extra"}`."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.core.exceptions import RequestDataTooBig
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from annotation.core.errors import DomainError
from annotation.core.wording import in_words


class ErrorSerializer(serializers.Serializer):
    """What happened and what to do. `code` is stable; `extra.field` names the place in the request."""

    code = serializers.CharField()
    message = serializers.CharField()
    extra = serializers.DictField(child=serializers.JSONField())


class TooLarge(APIException):
    """A JSON body beyond all measure."""

    status_code = 413
    default_code = "too_large"
    default_detail = gettext_lazy("This request is too large. Files go to imports.")


class NothingHere(APIView):
    """Any address under the API's root that is none of its own."""

    authentication_classes = ()
    permission_classes = ()
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound(_("The API has no address %(path)s.") % {"path": request.path})


def present_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. An error that is none of the expected ones stays a 500."""
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
    if isinstance(error, ValidationError):
        return _invalid(error)
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    headers |= _retry_after(error)
    return _body(error.status_code, str(error.get_codes()), str(error.detail), {}, headers)


def _retry_after(error: Exception) -> dict[str, str]:
    wait = getattr(error, "wait", None)
    return {"Retry-After": str(int(wait))} if wait else {}


def _invalid(error: ValidationError) -> Response:
    places = dict(_flattened(error.detail))
    field, message = next(iter(places.items()), ("", _("The request is not valid.")))
    said = f"{field}: {message}" if field else message
    return _body(error.status_code, "invalid", said, {"field": field, "fields": places})


def _flattened(detail: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """`(path[1].ratings[0].rating, message)` of every error, in order."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            if name == "non_field_errors":
                yield from _flattened(inner, field)
            elif isinstance(name, int):
                yield from _flattened(inner, f"{field}[{name}]")
            else:
                yield from _flattened(inner, f"{field}.{name}" if field else str(name))
    elif isinstance(detail, list) and any(isinstance(inner, dict | list) for inner in detail):
        for index, inner in enumerate(detail):
            yield from _flattened(inner, f"{field}[{index}]")
    elif isinstance(detail, list):
        if detail:
            yield field, " ".join(str(message) for message in detail)
    else:
        yield field, str(detail)


def _body(
    status: int, code: str, message: str, extra: dict[str, Any], headers: dict[str, str] | None = None
) -> Response:
    return Response({"code": code, "message": message, "extra": extra}, status=status, headers=headers)
