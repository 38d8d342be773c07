"""The scope that a token needs for each request. A signed-in browser needs none; roles apply on top.

Each view declares `scopes`: the scope of each of its methods.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotation.api.authentication import token_of
from annotation.core.errors import Forbidden
from prm.messages import Message

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports the permissions, which import this module


class HasScope(BasePermission):
    """Refuses a token without the scope of the request, with Forbidden (`scope_missing`)."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        method = str(request.method)
        if method != "OPTIONS" and hasattr(view, method.lower()):
            require_scopes(request, [scope_of(view, method)])
        return True


def scope_of(view: "APIView", method: str) -> str:
    """The scope that a view declares for a method; that of GET for HEAD."""
    scopes: dict[str, str] = view.scopes  # type: ignore[attr-defined]
    return scopes["GET" if method == "HEAD" and "HEAD" not in scopes else method]


def require_scopes(request: Request, scopes: Iterable[str]) -> None:
    """Raise Forbidden (`scope_missing`) if the request has a token that lacks one of the scopes."""
    token = token_of(request)
    for scope in scopes:
        if token is not None and scope not in token.scopes:
            raise Forbidden(Message("scope_missing", scope=scope), {"scope": scope})
