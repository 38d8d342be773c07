"""Domains that a version of their own serves, in place of the project's champion."""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query
from annotation.api.model_versions import find_version
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, Written
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.registry import clear_domain_champion, set_domain_champion


class DomainChampionRow(Row):
    paths: ClassVar[dict[str, str]] = {"number": "model_version.number"}

    domain: str
    model_version: Id
    number: int
    chosen_at: datetime


class ChosenDomain(msgspec.Struct):
    domain: Annotated[Written, Meta(max_length=100, description="Of some problem of the project.")]


class DomainChampions(PagedView):
    """The domains of a project that have a champion of their own."""

    @extend_schema(operation_id="list_domain_champions", responses=Page[DomainChampionRow])
    def get(self, request: Request, slug: str) -> Response:
        """By domain; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.domain_champions.select_related("model_version"), request, DomainChampionRow.of)

    @extend_schema(
        operation_id="clear_domain_champion", request=None, parameters=query_of(ChosenDomain), responses={204: None}
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Let the project's champion serve the domain again. A manager may."""
        project = find_project(request.user, slug)
        clear_domain_champion(by=caller(request), project=project, domain=read_query(request, ChosenDomain).domain)
        return Response(status=204)


class ServeDomain(APIView):
    """Letting a version serve a domain."""

    @extend_schema(operation_id="serve_domain", request=ChosenDomain, responses=DomainChampionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make the version the champion of one domain, in place of the project's. A manager may."""
        version = find_version(request, version_id)
        domain = read_body(request, ChosenDomain).domain
        return Response(DomainChampionRow.of(set_domain_champion(by=caller(request), version=version, domain=domain)))
