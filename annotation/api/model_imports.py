"""Models made elsewhere: what the operator has put among the imports, importing it, having it measured."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.model_jobs import ModelJobSerializer
from annotation.api.model_versions import find_version
from annotation.api.paging import PagedView
from annotation.api.runs import RunSerializer
from annotation.core.membership.access import find_project
from annotation.loop.model_jobs.importing import importable_folders, request_measurement
from annotation.loop.model_jobs.jobs import request_import
from annotation.models import Membership, ModelJob

LONGEST_SEPARATOR = 100
MOST_CLASSES = 1000


class ModelFolderSerializer(serializers.Serializer):
    """`separator` and `good` are asked of token classifiers only."""

    folder = serializers.CharField(max_length=255, help_text="One of those that the operator has put there.")
    separator = serializers.CharField(
        default="\n", max_length=LONGEST_SEPARATOR, trim_whitespace=False, help_text="What ends a step."
    )
    good = serializers.IntegerField(
        default=1, min_value=0, max_value=MOST_CLASSES, help_text="Which class means that the step is right."
    )


class ModelImports(PagedView):
    """The imports of models into a project."""

    @extend_schema(operation_id="list_model_imports", responses=ModelJobSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        return self.page_of(project.model_jobs.filter(kind=ModelJob.Kind.IMPORT), request, ModelJobSerializer)

    @extend_schema(operation_id="import_model", request=ModelFolderSerializer, responses={202: ModelJobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a folder checked, copied, registered as a challenger and measured by the gate. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        given = ModelFolderSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        job = request_import(by=caller(request), project=project, **given.validated_data)
        return Response(ModelJobSerializer(job).data, status=202)


class ImportableModels(APIView):
    """What can be imported."""

    @extend_schema(
        operation_id="list_importable_models", responses=serializers.ListSerializer(child=serializers.CharField())
    )
    def get(self, request: Request, slug: str) -> Response:
        """The folders that the operator has put among the imports, by name. A manager may."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response(importable_folders())


class Measure(APIView):
    """Having an imported version measured."""

    @extend_schema(operation_id="measure_model", request=None, responses={202: RunSerializer})
    def post(self, request: Request, version_id: int) -> Response:
        """Begin the round that measures it and trains nothing, where the import could not. A manager may."""
        run = request_measurement(by=caller(request), version=find_version(request, version_id))
        return Response(RunSerializer(run).data, status=202)
