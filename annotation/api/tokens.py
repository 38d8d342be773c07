"""The caller's API tokens."""

from datetime import datetime
from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.scopes import require_scopes
from annotation.core.bounds import LARGEST_INTEGER, Id, NonBlank, about
from annotation.core.membership.tokens import OWN_SCOPES, issue_token, limit_token, revoke_token
from annotation.models import ApiToken, Scope

Limit = Annotated[int, Meta(ge=1, le=LARGEST_INTEGER)]


class TokenRow(Row):
    id: Annotated[Id, about("The id of the token.")]
    name: str
    scopes: Annotated[list[Scope], about("What it may do, within the role of its account.")]
    for_person: Annotated[bool, about("Whether labels sent with the token count as a person's.")]
    created_at: datetime
    last_used_at: Annotated[datetime | None, about("When it was last used; null if never.")]
    requests_per_minute: Limit | None
    requests_per_day: Limit | None
    steps_per_minute: Limit | None
    steps_per_day: Limit | None


class IssuedToken(TokenRow):
    secret: Annotated[str, about("The secret, shown only once.")]


class TokenToIssue(msgspec.Struct):
    name: Annotated[NonBlank, Meta(max_length=100)]
    scopes: Annotated[list[Scope], Meta(min_length=1, description="What it may do. By default `read` and `score`.")] = (
        msgspec.field(default_factory=lambda: list(OWN_SCOPES))
    )
    for_person: Annotated[bool, about("Whether its labels count as a person's.")] = False


class TokenLimits(msgspec.Struct):
    """Scoring limits of a token. null removes a limit; an omitted field keeps its value."""

    requests_per_minute: Limit | UnsetType | None = UNSET
    requests_per_day: Limit | UnsetType | None = UNSET
    steps_per_minute: Limit | UnsetType | None = UNSET
    steps_per_day: Limit | UnsetType | None = UNSET


class Tokens(PagedView):
    """API tokens of the caller."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_tokens", responses=Page[TokenRow])
    def get(self, request: Request) -> Response:
        """The caller's valid tokens."""
        tokens = ApiToken.objects.filter(user=caller(request), revoked_at__isnull=True).order_by("pk")
        return self.page_of(tokens, request, TokenRow.of)

    @extend_schema(operation_id="issue_token", request=TokenToIssue, responses={201: IssuedToken})
    def post(self, request: Request) -> Response:
        """Make a token. Its secret is shown only once.

        The source kind of labels submitted with it is model judge, unless it is `for_person`. A token cannot make a
        token with a scope that it lacks.
        """
        body = read_body(request, TokenToIssue)
        require_scopes(request, body.scopes)
        token, secret = issue_token(
            by=caller(request), name=body.name.strip(), scopes=body.scopes, for_person=body.for_person
        )
        return Response(IssuedToken.of(token, secret=secret), status=201)


class TokenDetail(APIView):
    """One token."""

    scopes = {"PATCH": "admin", "DELETE": "admin"}

    @extend_schema(operation_id="limit_token", request=TokenLimits, responses=TokenRow)
    def patch(self, request: Request, token_id: int) -> Response:
        """Set the scoring limits of one of the caller's tokens."""
        limits = sent_fields(read_body(request, TokenLimits))
        return Response(TokenRow.of(limit_token(by=caller(request), token_id=token_id, limits=limits)))

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token of the caller, or of a machine annotator that they manage. It stops working immediately."""
        revoke_token(by=caller(request), token_id=token_id)
        return Response(status=204)
