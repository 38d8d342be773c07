"""Sampling runs: start one from a policy's endpoint, watch it, cancel it, let it go on."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import MessageField, ThinkingField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.loop.gateway.policies import endpoint_names, proposed_prompt
from annotation.loop.sampling.sampling_runs import (
    HOTTEST,
    MOST_SAMPLES,
    MOST_TOKENS,
    Wish,
    progress_of,
    resume_sampling,
    start_sampling,
)
from annotation.models import Membership, SamplingRun
from prm.messages import Message
from prm.splitting import RULES

MOST_BIG = 2**53


class ProgressOfSamplingSerializer(serializers.Serializer):
    share = serializers.FloatField(help_text="Of the problems, 0 to 1.")
    samples_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)


class SamplingSerializer(serializers.ModelSerializer):
    """Solutions sampled from a policy. Counts are of samples but for `problems`, `done_problems`, `failed_problems`."""

    project = serializers.SlugField(source="project.slug", read_only=True)
    note = MessageField(help_text="How it ended, where there is more to say than its state.")
    error = MessageField()
    generation = serializers.IntegerField(source="generation.number", allow_null=True, read_only=True, default=None)
    progress = serializers.SerializerMethodField()

    class Meta:
        model = SamplingRun
        fields = (
            "id", "project", "endpoint", "model", "temperature", "max_tokens", "samples", "prompt", "decomposition",
            "thinking", "choice", "domain", "token_budget", "seed", "opens_generation", "generation", "state", "note",
            "error", "problems", "done_problems", "failed_problems", "sampled", "accepted", "duplicates", "refused",
            "right", "wrong", "ungraded", "calls", "prompt_tokens", "completion_tokens", "cancel_requested", "progress",
            "created_at", "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema(responses=ProgressOfSamplingSerializer)
    def get_progress(self, run: SamplingRun) -> dict[str, float | None]:
        return dict(ProgressOfSamplingSerializer(progress_of(run)).data)


class WishSerializer(serializers.Serializer):
    """What to sample; `endpoint` is a name that the operator gave one."""

    endpoint = serializers.CharField(max_length=100)
    samples = serializers.IntegerField(default=4, min_value=1, max_value=MOST_SAMPLES, help_text="Of each problem.")
    temperature = serializers.FloatField(default=0.8, min_value=0, max_value=HOTTEST)
    max_tokens = serializers.IntegerField(default=1024, min_value=1, max_value=MOST_TOKENS)
    prompt = serializers.CharField(
        required=False, max_length=20_000, help_text="With {problem} in it; else the endpoint's own."
    )
    decomposition = serializers.ChoiceField(list(RULES), default="blank_lines")
    thinking = ThinkingField()
    choice = serializers.ChoiceField(SamplingRun.Choice.choices, default=SamplingRun.Choice.ALL)
    domain = serializers.CharField(default="", allow_blank=True, max_length=100)
    most_problems = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=10**9)
    token_budget = serializers.IntegerField(default=None, allow_null=True, min_value=1, max_value=MOST_BIG)
    opens_generation = serializers.BooleanField(default=False)
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=2**31 - 1)


class Samplings(PagedView):
    """The sampling runs of a project."""

    @extend_schema(operation_id="list_samplings", request=None, responses=SamplingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The sampling runs of the project, the latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        runs = SamplingRun.objects.filter(project=project).select_related("project", "generation")
        return self.page_of(runs, request, SamplingSerializer)

    @extend_schema(operation_id="start_sampling", request=WishSerializer, responses={202: SamplingSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Choose problems and let a worker sample solutions of them from a policy. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        given = WishSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        said = given.validated_data
        said.setdefault("prompt", proposed_prompt(said["endpoint"]))
        run = start_sampling(by=caller(request), project=project, wish=Wish(**said))
        return Response(SamplingSerializer(run).data, status=202)


class PolicyEndpointSerializer(serializers.Serializer):
    name = serializers.CharField()
    model = serializers.CharField()


class PolicyEndpoints(APIView):
    """The policies that the operator named."""

    @extend_schema(operation_id="list_policy_endpoints", responses=PolicyEndpointSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The policies that may be sampled from. A manager may."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([{"name": name, "model": model} for name, model in endpoint_names().items()])


class SamplingDetail(APIView):
    """One sampling run."""

    @extend_schema(operation_id="get_sampling", responses=SamplingSerializer)
    def get(self, request: Request, sampling_id: int) -> Response:
        """How far the sampling is. A manager may."""
        return Response(SamplingSerializer(_find(request, sampling_id)).data)


class CancelSampling(APIView):
    """Cancelling a sampling run."""

    @extend_schema(operation_id="cancel_sampling", request=None, responses=SamplingSerializer)
    def post(self, request: Request, sampling_id: int) -> Response:
        """Stop the sampling; what is in stays. A manager may."""
        return Response(SamplingSerializer(cancel_job(by=caller(request), job=_find(request, sampling_id))).data)


class ResumeSampling(APIView):
    """Taking up a sampling run again."""

    @extend_schema(operation_id="resume_sampling", request=None, responses=SamplingSerializer)
    def post(self, request: Request, sampling_id: int) -> Response:
        """Go on with the problems that are left, those that failed included. A manager may."""
        return Response(SamplingSerializer(resume_sampling(by=caller(request), job=_find(request, sampling_id))).data)


def _find(request: Request, sampling_id: int) -> SamplingRun:
    runs = SamplingRun.objects.select_related("project", "generation")
    run = runs.filter(pk=sampling_id, project__in=visible_projects(request.user)).first()
    if run is None:
        raise Missing("sampling_not_found", Message("sampling_not_found", sampling_id=sampling_id))
    require_role(request.user, run.project, Membership.Role.MANAGER)
    return run
