"""Sampling runs: list them and start one from a policy's endpoint."""

from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.job_rows import EndpointRunRow, JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, about
from annotation.core.membership.access import find_project
from annotation.loop.gateway.policies import endpoint_names
from annotation.loop.sampling.sampling_runs import SamplingPlan, start_sampling
from annotation.models import Membership, SamplingRun


class SamplingRow(EndpointRunRow):
    """Solutions sampled from a policy. Counts are of samples unless the name says `problems`."""

    paths: ClassVar[dict[str, str]] = JobRow.paths | {"generation": "generation.number"}

    samples: Annotated[Count, about("Samples per problem.")]
    decomposition: str
    thinking: str
    choice: Annotated[SamplingRun.Choice, about("Which problems are sampled.")]
    domain: str
    opens_generation: bool
    generation: int | None
    problems: Annotated[Count, about("Number of problems.")]
    done_problems: Annotated[Count, about("Problems that are finished.")]
    failed_problems: Annotated[Count, about("Problems for which sampling failed.")]
    sampled: Annotated[Count, about("Samples that arrived.")]
    accepted: Annotated[Count, about("Number of new solutions.")]
    duplicates: Annotated[Count, about("Number of solutions that existed before.")]
    refused: Annotated[Count, about("Number that was rejected.")]
    right: Annotated[Count, about("Samples whose final answer is right.")]
    wrong: Annotated[Count, about("Samples whose final answer is wrong.")]
    ungraded: Annotated[Count, about("Samples that could not be graded.")]


class PolicyEndpoint(msgspec.Struct):
    name: str
    model: Annotated[str, about("The policy model.")]


class Samplings(PagedView):
    """The sampling runs of a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_samplings", request=None, responses=Page[SamplingRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's sampling runs, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        runs = SamplingRun.objects.filter(project=project).select_related("project", "requested_by", "generation")
        return self.page_of(runs, request, SamplingRow.of)

    @extend_schema(operation_id="start_sampling", request=SamplingPlan, responses={202: SamplingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Choose problems and start a job that samples solutions from a policy. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        plan = read_body(request, SamplingPlan)
        return Response(SamplingRow.of(start_sampling(by=caller(request), project=project, plan=plan)), status=202)


class PolicyEndpoints(APIView):
    """The policy endpoints that the operator configured."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_policy_endpoints", responses=list[PolicyEndpoint])
    def get(self, request: Request, slug: str) -> Response:
        """The policies that may be sampled from. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([PolicyEndpoint(name, model) for name, model in endpoint_names().items()])
