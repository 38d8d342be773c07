"""Who is calling: a browser by its session, a program by `Authorization: Token <secret>`, or `Bearer` as others say."""

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.request import Request

from annotation.membership.tokens import find_token
from annotation.models import ApiToken


def caller(request: Request) -> User:
    """The user of a request that has passed the permissions."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def token_of(request: Request) -> ApiToken | None:
    """The token of a program, None for a person in a browser."""
    return request.auth if isinstance(request.auth, ApiToken) else None


class TokenAuthentication(BaseAuthentication):
    """A program with an API token."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() not in (b"token", b"bearer"):
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The header is `Authorization: Token <secret>`.")
        token = find_token(words[1].decode("latin-1"))
        if token is None:
            raise AuthenticationFailed("This token is not known, or it was revoked.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Makes "not signed in" a 401."""
        return "Token"


class BrowserAuthentication(SessionAuthentication):
    """A signed-in browser; a failed CSRF check says so by its own code."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as refused:
            message = "The page is out of date: reload it and try again."
            raise PermissionDenied(f"{message} ({refused.detail})", code="csrf_failed") from None


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "For programs: `Authorization: Token <secret>`; `Bearer <secret>` is taken too.",
        }


class BrowserScheme(OpenApiAuthenticationExtension):
    target_class = BrowserAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "For pages, with CSRF token."}
