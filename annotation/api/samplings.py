"""Sampling runs: start one from a policy's endpoint, watch it, cancel it, resume it."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import LONGEST_TEXT, Count, Id, Position, Written, one_of
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.loop.gateway.policies import endpoint_names, proposed_prompt
from annotation.loop.sampling.sampling_runs import (
    HOTTEST,
    MOST_SAMPLES,
    MOST_TOKENS,
    SamplingProgress,
    Wish,
    progress_of,
    resume_sampling,
    start_sampling,
)
from annotation.models import Membership, SamplingRun
from prm.messages import Message
from prm.splitting import RULES, Thinking


class SamplingRow(Row):
    """Solutions sampled from a policy. Counts are of samples unless the name says `problems`."""

    id: Id
    project: str
    endpoint: str
    model: str
    temperature: float
    max_tokens: Count
    samples: Count
    prompt: str
    decomposition: str
    thinking: str
    choice: SamplingRun.Choice
    domain: str
    token_budget: Count
    seed: int
    opens_generation: bool
    generation: int | None
    state: SamplingRun.State
    note: Annotated[str, Meta(description="How the run ended, if there is more to report than its state.")]
    error: str
    problems: Count
    done_problems: Count
    failed_problems: Count
    sampled: Count
    accepted: Count
    duplicates: Count
    refused: Count
    right: Count
    wrong: Count
    ungraded: Count
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    cancel_requested: bool
    progress: SamplingProgress
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        generation = row.generation and row.generation.number
        return super().of(row, project=row.project.slug, generation=generation, progress=progress_of(row), **others)


class SamplingToStart(msgspec.Struct):
    """What to sample. `endpoint` is one of the names that the operator configured."""

    endpoint: Annotated[Written, Meta(max_length=100)]
    samples: Annotated[int, Meta(ge=1, le=MOST_SAMPLES, description="Number of samples per problem.")] = 4
    temperature: Annotated[float, Meta(ge=0, le=HOTTEST)] = 0.8
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = 1024
    prompt: Annotated[
        Annotated[Written, Meta(max_length=LONGEST_TEXT)] | UnsetType,
        Meta(description="The prompt, which must contain {problem}. Default: the endpoint's prompt."),
    ] = UNSET
    decomposition: Annotated[str, one_of(RULES)] = "blank_lines"
    thinking: Thinking = "separate"
    choice: SamplingRun.Choice = SamplingRun.Choice.ALL
    domain: Annotated[str, Meta(max_length=100)] = ""
    most_problems: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    token_budget: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    opens_generation: bool = False
    seed: Position | None = None


class PolicyEndpoint(msgspec.Struct):
    name: str
    model: str


class Samplings(PagedView):
    """The sampling runs of a project."""

    @extend_schema(operation_id="list_samplings", request=None, responses=Page[SamplingRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's sampling runs, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        runs = SamplingRun.objects.filter(project=project).select_related("project", "generation")
        return self.page_of(runs, request, SamplingRow.of)

    @extend_schema(operation_id="start_sampling", request=SamplingToStart, responses={202: SamplingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Choose problems and start a job that samples solutions from a policy. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_body(request, SamplingToStart)
        wish = Wish(**{"prompt": proposed_prompt(asked.endpoint)} | sent_fields(asked))
        return Response(SamplingRow.of(start_sampling(by=caller(request), project=project, wish=wish)), status=202)


class PolicyEndpoints(APIView):
    """The policy endpoints that the operator configured."""

    @extend_schema(operation_id="list_policy_endpoints", responses=list[PolicyEndpoint])
    def get(self, request: Request, slug: str) -> Response:
        """The policies that may be sampled from. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([PolicyEndpoint(name, model) for name, model in endpoint_names().items()])


class SamplingDetail(APIView):
    """One sampling run."""

    @extend_schema(operation_id="get_sampling", responses=SamplingRow)
    def get(self, request: Request, sampling_id: int) -> Response:
        """Progress of the sampling run. Managers only."""
        return Response(SamplingRow.of(_find(request, sampling_id)))


class CancelSampling(APIView):
    """Cancelling a sampling run."""

    @extend_schema(operation_id="cancel_sampling", request=None, responses=SamplingRow)
    def post(self, request: Request, sampling_id: int) -> Response:
        """Stop the sampling run. Solutions added so far remain. Managers only."""
        return Response(SamplingRow.of(cancel_job(by=caller(request), job=_find(request, sampling_id))))


class ResumeSampling(APIView):
    """Resuming a sampling run."""

    @extend_schema(operation_id="resume_sampling", request=None, responses=SamplingRow)
    def post(self, request: Request, sampling_id: int) -> Response:
        """Resume with the remaining problems, including those that failed. Managers only."""
        return Response(SamplingRow.of(resume_sampling(by=caller(request), job=_find(request, sampling_id))))


def _find(request: Request, sampling_id: int) -> SamplingRun:
    runs = SamplingRun.objects.select_related("project", "generation")
    run = runs.filter(pk=sampling_id, project__in=visible_projects(request.user)).first()
    if run is None:
        raise Missing(Message("sampling_not_found", sampling_id=sampling_id))
    require_role(request.user, run.project, Membership.Role.MANAGER)
    return run
