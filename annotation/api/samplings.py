"""Sampling runs: list them and start one from a policy's endpoint."""

from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body, sent_fields
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import LONGEST_TEXT, Count, NonBlank, Position, about, one_of
from annotation.core.membership.access import find_project
from annotation.loop.gateway.policies import endpoint_names, proposed_prompt
from annotation.loop.sampling.sampling_runs import (
    HIGHEST_TEMPERATURE,
    MOST_SAMPLES,
    MOST_TOKENS,
    SamplingPlan,
    start_sampling,
)
from annotation.models import Membership, SamplingRun
from prm.splitting import RULES, Thinking


class SamplingRow(JobRow):
    """Solutions sampled from a policy. Counts are of samples unless the name says `problems`."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)
    paths: ClassVar[dict[str, str]] = JobRow.paths | {"generation": "generation.number"}

    endpoint: str
    model: Annotated[str, about("The name of the model.")]
    temperature: float
    max_tokens: Count
    samples: Annotated[Count, about("Samples per problem.")]
    prompt: Annotated[str, about("The prompt's template.")]
    decomposition: str
    thinking: str
    choice: Annotated[SamplingRun.Choice, about("Which problems are sampled.")]
    domain: str
    token_budget: Count
    seed: int
    opens_generation: bool
    generation: int | None
    note: Annotated[str, about("How the run ended, if there is more to report than its state.")]
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
    calls: Annotated[Count, about("Requests sent to the policy.")]
    prompt_tokens: Count
    completion_tokens: Count


class SamplingToStart(msgspec.Struct):
    """What to sample. `endpoint` is one of the names that the operator configured."""

    endpoint: Annotated[NonBlank, Meta(max_length=100)]
    samples: Annotated[int, Meta(ge=1, le=MOST_SAMPLES, description="Number of samples per problem.")] = 4
    temperature: Annotated[float, Meta(ge=0, le=HIGHEST_TEMPERATURE)] = 0.8
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = 1024
    prompt: Annotated[
        Annotated[NonBlank, Meta(max_length=LONGEST_TEXT)] | UnsetType,
        about("The prompt, which must contain {problem}. Default: the endpoint's prompt."),
    ] = UNSET
    decomposition: Annotated[str, one_of(RULES)] = "blank_lines"
    thinking: Thinking = "separate"
    choice: Annotated[SamplingRun.Choice, about("Which problems are sampled.")] = SamplingRun.Choice.ALL
    domain: Annotated[str, Meta(max_length=100)] = ""
    most_problems: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, about("The most problems to sample; null for all.")
    ] = None
    token_budget: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    opens_generation: bool = False
    seed: Position | None = None


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

    @extend_schema(operation_id="start_sampling", request=SamplingToStart, responses={202: SamplingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Choose problems and start a job that samples solutions from a policy. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, SamplingToStart)
        plan = SamplingPlan(**{"prompt": proposed_prompt(body.endpoint)} | sent_fields(body))
        return Response(SamplingRow.of(start_sampling(by=caller(request), project=project, plan=plan)), status=202)


class PolicyEndpoints(APIView):
    """The policy endpoints that the operator configured."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_policy_endpoints", responses=list[PolicyEndpoint])
    def get(self, request: Request, slug: str) -> Response:
        """The policies that may be sampled from. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([PolicyEndpoint(name, model) for name, model in endpoint_names().items()])
