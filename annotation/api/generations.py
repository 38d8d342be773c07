"""Generations: list them, open the next one."""

from datetime import datetime
from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.selection.generations import open_next_generation
from annotation.models import Generation
from annotation.models.generation import Recipe


class GenerationRow(Row):
    paths: ClassVar[dict[str, str]] = {"model_version": "model_version.number"}

    id: Id
    number: Count
    state: Generation.State
    acquisition: Annotated[str, about("The acquisition function that ranked the pool.")]
    model_version: Annotated[int | None, about("Number of the model that ranked the pool; null for a random draw.")]
    mix: Annotated[dict[str, Count], about("Number of items by lane.")]
    recipe: Annotated[Recipe, about("How it was drawn.")]
    seed: int
    budget: Annotated[Count, about("Number of solutions to select.")]
    pool_size: Annotated[Count, about("Number of candidate solutions.")]
    created_at: datetime
    retired_at: Annotated[datetime | None, about("When it was replaced; null while it is open.")]


class Generations(PagedView):
    """The generations of a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_generations", responses=Page[GenerationRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's generations, latest first. Reviewers and managers only."""
        generations = find_project(request.user, slug, *STAFF).generations.select_related("model_version")
        return self.page_of(generations.order_by("-number"), request, GenerationRow.of)

    @extend_schema(operation_id="open_generation", request=None, responses={201: GenerationRow})
    def post(self, request: Request, slug: str) -> Response:
        """Open the first generation, or replace the open one. Managers only."""
        generation = open_next_generation(by=caller(request), project=find_project(request.user, slug))
        return Response(GenerationRow.of(generation), status=201)
