"""Domains that a version of their own serves, in place of the project's champion."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.model_versions import find_version
from annotation.api.paging import PagedView
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.registry import clear_domain_champion, set_domain_champion
from annotation.models import DomainChampion


class DomainChampionSerializer(serializers.ModelSerializer):
    number = serializers.IntegerField(source="model_version.number", read_only=True)

    class Meta:
        model = DomainChampion
        fields = ("domain", "model_version", "number", "chosen_at")


class ChosenDomainSerializer(serializers.Serializer):
    domain = serializers.CharField(max_length=100, help_text="Of some problem of the project.")


class DomainChampions(PagedView):
    """The domains of a project that have a champion of their own."""

    @extend_schema(operation_id="list_domain_champions", responses=DomainChampionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """By domain; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.domain_champions.select_related("model_version"), request, DomainChampionSerializer)

    @extend_schema(
        operation_id="clear_domain_champion",
        request=None,
        parameters=[OpenApiParameter("domain", required=True)],
        responses={204: None},
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Let the project's champion serve the domain again. A manager may."""
        project = find_project(request.user, slug)
        given = ChosenDomainSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        clear_domain_champion(by=caller(request), project=project, domain=given.validated_data["domain"])
        return Response(status=204)


class ServeDomain(APIView):
    """Letting a version serve a domain."""

    @extend_schema(operation_id="serve_domain", request=ChosenDomainSerializer, responses=DomainChampionSerializer)
    def post(self, request: Request, version_id: int) -> Response:
        """Make the version the champion of one domain, in place of the project's. A manager may."""
        version = find_version(request, version_id)
        given = ChosenDomainSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        chosen = set_domain_champion(by=caller(request), version=version, domain=given.validated_data["domain"])
        return Response(DomainChampionSerializer(chosen).data)
