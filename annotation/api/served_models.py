"""The served models, named as for clients of vLLM.

A model's name is a project's slug, with `:domain` for a domain's own champion and `@2` for model 2.
"""

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.errors import Missing
from annotation.core.membership.access import find_project, visible_projects
from annotation.models import DomainChampion, ModelVersion, Project
from prm.messages import Message


class ServedModel(msgspec.Struct, kw_only=True):
    id: str
    object: str = "model"
    created: int
    owned_by: str
    root: str
    max_model_len: int | None


class ServedModelList(msgspec.Struct):
    data: list[ServedModel]
    object: str = "list"


class ServedModels(APIView):
    """The models that serve the pooling route."""

    @extend_schema(operation_id="list_served_models", responses=ServedModelList)
    def get(self, request: Request) -> Response:
        """One model for each of the caller's projects with a champion, and for each domain with its own."""
        projects = visible_projects(request.user)
        own = DomainChampion.objects.filter(project__in=projects).select_related("model_version__project")
        champions = ModelVersion.objects.filter(project__in=projects, state=ModelVersion.State.CHAMPION)
        named = [
            (version.project.slug, version)
            for version in champions.select_related("project")
            if version.answers_programs
        ]
        named += [(f"{one.model_version.project.slug}:{one.domain}", one.model_version) for one in own]
        named.sort(key=lambda one: one[0])
        return Response(ServedModelList([_served(name, version) for name, version in named]))


def _served(name: str, version: ModelVersion) -> ServedModel:
    return ServedModel(
        id=name,
        created=int((version.promoted_at or version.created_at).timestamp()),
        owned_by="stepmark",
        root=f"{version.project.slug}@{version.number}",
        max_model_len=version.manifest.get("config", {}).get("context"),
    )


def model_named(request: Request, name: str | None) -> tuple[Project, str, int | None]:
    """Project, domain and model number from a model's name. Without a name, it is the caller's only project."""
    if name is None:
        mine = list(visible_projects(request.user).filter(model_versions__state=ModelVersion.State.CHAMPION)[:2])
        if len(mine) != 1:
            raise Missing(Message("model_not_named"), {"field": "model"}, code="model_not_found")
        return mine[0], "", None
    rest, _, number = name.partition("@")
    slug, _, domain = rest.partition(":")
    if number and not (number.isdecimal() and 0 < int(number) < 2**31):
        raise Missing(Message("model_number_invalid", number=number), {"field": "model"}, code="model_not_found")
    return find_project(request.user, slug), domain, int(number) if number else None
