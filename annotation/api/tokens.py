"""The caller's API tokens."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.membership.tokens import issue_token, revoke_token
from annotation.models import ApiToken


class TokenSerializer(serializers.ModelSerializer):
    class Meta:
        model = ApiToken
        fields = ("id", "name", "created_at", "last_used_at")
        read_only_fields = ("created_at", "last_used_at")


class IssuedTokenSerializer(TokenSerializer):
    secret = serializers.CharField(help_text="Shown this once.")

    class Meta:
        model = ApiToken
        fields = ("id", "name", "created_at", "last_used_at", "secret")
        read_only_fields = ("created_at", "last_used_at")


class Tokens(PagedView):
    """Keys for the caller's programs."""

    @extend_schema(operation_id="list_tokens", responses=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The caller's valid tokens."""
        tokens = ApiToken.objects.filter(user=caller(request), revoked_at__isnull=True).order_by("pk")
        return self.page_of(tokens, request, TokenSerializer)

    @extend_schema(operation_id="issue_token", request=TokenSerializer, responses={201: IssuedTokenSerializer})
    def post(self, request: Request) -> Response:
        """Make a token; its secret is shown this once."""
        given = TokenSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        token, secret = issue_token(by=caller(request), name=given.validated_data["name"])
        return Response(TokenSerializer(token).data | {"secret": secret}, status=201)


class TokenDetail(APIView):
    """One token."""

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token; it is refused from now on."""
        revoke_token(by=caller(request), token_id=token_id)
        return Response(status=204)
