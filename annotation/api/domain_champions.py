"""Domains that have their own champion in place of the project's."""

from datetime import datetime
from typing import Annotated, Any, Self

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
    domain: str
    model_version: Id
    number: int
    chosen_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, number=row.model_version.number, **others)


class ChosenDomain(msgspec.Struct):
    domain: Annotated[Written, Meta(max_length=100, description="The domain of at least one problem in the project.")]


class DomainChampions(PagedView):
    """The domains of a project that have their own champion."""

    @extend_schema(operation_id="list_domain_champions", responses=Page[DomainChampionRow])
    def get(self, request: Request, slug: str) -> Response:
        """Domain champions, sorted by domain. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.domain_champions.select_related("model_version"), request, DomainChampionRow.of)

    @extend_schema(
        operation_id="clear_domain_champion", request=None, parameters=query_of(ChosenDomain), responses={204: None}
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Remove the domain's champion, so that the project's champion serves the domain again. Managers only."""
        project = find_project(request.user, slug)
        clear_domain_champion(by=caller(request), project=project, domain=read_query(request, ChosenDomain).domain)
        return Response(status=204)


class ServeDomain(APIView):
    """Promoting a model for one domain."""

    @extend_schema(operation_id="serve_domain", request=ChosenDomain, responses=DomainChampionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make the model the champion of one domain. Managers only."""
        version = find_version(request, version_id)
        domain = read_body(request, ChosenDomain).domain
        return Response(DomainChampionRow.of(set_domain_champion(by=caller(request), version=version, domain=domain)))
