"""Authentication: browsers by session, programs by `Authorization: Token <secret>` or `Bearer <secret>`."""

from urllib.parse import unquote

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from annotation.api.limits import count_stranger
from annotation.core.errors import Forbidden
from annotation.core.membership.accounts import preference_of
from annotation.core.membership.tokens import find_token
from annotation.models import ApiToken
from annotation.serving.recent import recent_token
from prm.messages import Message


def caller(request: Request) -> User:
    """The user of a request that has passed the permissions."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def token_of(request: Request) -> ApiToken | None:
    """The token of a program, None for a person in a browser."""
    return request.auth if isinstance(request.auth, ApiToken) else None


def by_program(request: Request) -> bool:
    """Whether a program submits the request: it has a token that is not marked as a person's tool."""
    token = token_of(request)
    return token is not None and not token.for_person


class TokenAuthentication(BaseAuthentication):
    """A program with an API token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in (b"token", b"bearer"):
            return None
        if len(words) != 2:
            count_stranger(request)
            raise AuthenticationFailed("Send the header `Authorization: Token <secret>`.")
        secret, context = words[1].decode("latin-1"), request.parser_context or {}
        if getattr(context.get("view"), "asks_a_worker", False):
            token = recent_token(secret)
        else:
            token = find_token(secret, slug=context.get("kwargs", {}).get("slug", ""))
        if token is None:
            count_stranger(request)
            raise AuthenticationFailed("This token is unknown or revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """The WWW-Authenticate header, with which a caller who is not signed in gets 401 instead of 403."""
        return "Token"


class BrowserAuthentication(SessionAuthentication):
    """A signed-in browser. A failed CSRF check has its own error code.

    An open page names its user in `X-Stepmark-Person`. If another user has signed in in the same browser since, the
    request is rejected (401 `another_person`), so that no work is submitted under the wrong name. A user who has not
    replaced the initial password is rejected (403 `first_password`), as on every page.
    """

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        signed_in: tuple[User, None] | None = super().authenticate(request)
        if signed_in is None:  # no other way to authenticate follows
            count_stranger(request)
            return None
        person = request.headers.get("X-Stepmark-Person")
        if person is not None and unquote(person) != signed_in[0].get_username():
            message = _("This page belongs to %(page)s, but %(now)s is signed in now. Sign in as %(page)s again.")
            names = {"page": unquote(person), "now": signed_in[0].get_username()}
            raise AuthenticationFailed(message % names, code="another_person")
        if preference_of(signed_in[0]).first_password:
            raise Forbidden(Message("first_password"))
        return signed_in

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as refused:
            message = _("The page is out of date: reload it and try again.")
            raise PermissionDenied(f"{message} ({refused.detail})", code="csrf_failed") from None


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "For programs: `Authorization: Token <secret>`; `Bearer <secret>` works too.",
        }


class BrowserScheme(OpenApiAuthenticationExtension):
    target_class = BrowserAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "For pages, with CSRF token."}
