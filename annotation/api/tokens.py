"""The caller's API tokens."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.core.membership.tokens import LARGEST_LIMIT, issue_token, limit_token, revoke_token
from annotation.models import ApiToken


class LimitField(serializers.IntegerField):
    """A number from 1 on, or null."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST_LIMIT, allow_null=True, required=False, **kwargs)


class TokenSerializer(serializers.ModelSerializer):
    class Meta:
        model = ApiToken
        fields = ("id", "name", "for_person", "created_at", "last_used_at", *ApiToken.LIMITS)
        read_only_fields = ("created_at", "last_used_at", *ApiToken.LIMITS)


class LimitsSerializer(serializers.Serializer):
    """How much scoring a token may ask for; null is no limit, what is left out stays."""

    requests_per_minute = LimitField()
    requests_per_day = LimitField()
    steps_per_minute = LimitField()
    steps_per_day = LimitField()


class IssuedTokenSerializer(TokenSerializer):
    secret = serializers.CharField(help_text="Shown this once.")

    class Meta:
        model = ApiToken
        fields = ("id", "name", "for_person", "created_at", "last_used_at", *ApiToken.LIMITS, "secret")
        read_only_fields = ("created_at", "last_used_at", *ApiToken.LIMITS)


class Tokens(PagedView):
    """Keys for the caller's programs."""

    @extend_schema(operation_id="list_tokens", responses=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The caller's valid tokens."""
        tokens = ApiToken.objects.filter(user=caller(request), revoked_at__isnull=True).order_by("pk")
        return self.page_of(tokens, request, TokenSerializer)

    @extend_schema(operation_id="issue_token", request=TokenSerializer, responses={201: IssuedTokenSerializer})
    def post(self, request: Request) -> Response:
        """Make a token; its secret is shown this once.

        Labels that come with it are a model judge's, unless it is `for_person`.
        """
        given = TokenSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        token, secret = issue_token(by=caller(request), **given.validated_data)
        return Response(TokenSerializer(token).data | {"secret": secret}, status=201)


class TokenDetail(APIView):
    """One token."""

    @extend_schema(operation_id="limit_token", request=LimitsSerializer, responses=TokenSerializer)
    def patch(self, request: Request, token_id: int) -> Response:
        """Limit how much scoring one of the caller's tokens may ask for."""
        given = LimitsSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        token = limit_token(by=caller(request), token_id=token_id, limits=given.validated_data)
        return Response(TokenSerializer(token).data)

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token; it is refused from now on."""
        revoke_token(by=caller(request), token_id=token_id)
        return Response(status=204)
