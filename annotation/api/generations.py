"""Generations: what each asked for, and opening the next one."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.selection.generations import open_next_generation
from annotation.models import Generation


class GenerationSerializer(serializers.ModelSerializer):
    mix = serializers.DictField(child=serializers.IntegerField(min_value=0), help_text="Items by lane.")
    model_version = serializers.SerializerMethodField(help_text="Number of the model that ranked; null for random.")
    recipe = serializers.DictField(
        help_text="How it was drawn: by lane from how many solutions, the caps, the cost model."
    )
    pool_size = serializers.IntegerField(help_text="How many solutions it was drawn from.")

    class Meta:
        model = Generation
        fields = (
            "id", "number", "state", "acquisition", "model_version", "mix", "recipe", "seed", "budget", "pool_size",
            "created_at", "retired_at",
        )  # fmt: skip

    def get_model_version(self, generation: Generation) -> int | None:
        return generation.model_version.number if generation.model_version else None


class Generations(PagedView):
    """The generations of a project."""

    @extend_schema(operation_id="list_generations", responses=GenerationSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The latest first; for reviewers and managers."""
        generations = find_project(request.user, slug, *STAFF).generations.select_related("model_version")
        return self.page_of(generations.order_by("-number"), request, GenerationSerializer)

    @extend_schema(operation_id="open_generation", request=None, responses={201: GenerationSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Open the first generation, or replace the open one. A manager may."""
        generation = open_next_generation(by=caller(request), project=find_project(request.user, slug))
        return Response(GenerationSerializer(generation).data, status=201)
