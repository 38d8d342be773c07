"""Imported models: list the folders that can be imported, import one, measure it."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.model_jobs import ModelJobRow
from annotation.api.model_versions import find_version
from annotation.api.paging import Page, PagedView
from annotation.api.runs import RunRow
from annotation.core.bounds import Written
from annotation.core.membership.access import find_project
from annotation.loop.model_jobs.importing import importable_folders, request_measurement
from annotation.loop.model_jobs.jobs import request_import
from annotation.models import Membership, ModelJob

LONGEST_SEPARATOR = 100
MOST_CLASSES = 1000


class ModelFolder(msgspec.Struct):
    """`separator` and `good` are for token classifiers only."""

    folder: Annotated[Written, Meta(max_length=255, description="One of the importable folders.")]
    separator: Annotated[str, Meta(min_length=1, max_length=LONGEST_SEPARATOR, description="It ends a step.")] = "\n"
    good: Annotated[int, Meta(ge=0, le=MOST_CLASSES, description="The class that means a correct step.")] = 1


class ModelImports(PagedView):
    """The imports of models into a project."""

    @extend_schema(operation_id="list_model_imports", responses=Page[ModelJobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's model imports, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        return self.page_of(project.model_jobs.filter(kind=ModelJob.Kind.IMPORT), request, ModelJobRow.of)

    @extend_schema(operation_id="import_model", request=ModelFolder, responses={202: ModelJobRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that imports a folder as a challenger, which the gate then measures. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_body(request, ModelFolder)
        job = request_import(by=caller(request), project=project, **msgspec.structs.asdict(asked))
        return Response(ModelJobRow.of(job), status=202)


class ImportableModels(APIView):
    """The folders that can be imported."""

    @extend_schema(operation_id="list_importable_models", responses=list[str])
    def get(self, request: Request, slug: str) -> Response:
        """The folders that the operator provides for import, by name. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response(importable_folders())


class Measure(APIView):
    """Measuring an imported model."""

    @extend_schema(operation_id="measure_model", request=None, responses={202: RunRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Start the round that measures the model without training, if the import could not. Managers only."""
        run = request_measurement(by=caller(request), version=find_version(request, version_id))
        return Response(RunRow.of(run), status=202)
