"""Imports of several files at once: uploads, or files that lie where the operator allows."""

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.imports import ImportSerializer, options_in
from annotation.core.errors import Missing
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.files.groups import Manner, import_from_root, import_uploads, summary_of
from annotation.models import ImportGroup, Membership
from prm.formats.registry import FORMATS
from prm.messages import Message
from prm.splitting import RULES


class FilesSerializer(serializers.Serializer):
    """Which files to take in: `uploads` that are whole, or `path` (a file, folder or pattern) in a `storage`."""

    uploads = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=10_000)
    storage = serializers.CharField(required=False, help_text="The name of an import root.")
    path = serializers.CharField(required=False, allow_blank=True, default="", max_length=1000)
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)
    format = serializers.ChoiceField(["auto", *FORMATS], default="auto")
    decomposition = serializers.ChoiceField(list(RULES), default="blank_lines")
    mapping = serializers.CharField(required=False, help_text="JSON, as for one import.")
    options = serializers.CharField(required=False, help_text="JSON, as for one import.")

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if bool(given.get("uploads")) == bool(given.get("storage")):
            raise serializers.ValidationError(_("Give either uploads, or a storage and a path."))
        return given


class SummarySerializer(serializers.Serializer):
    """All files of a group together; `live` of them are not at their end."""

    files = serializers.IntegerField()
    live = serializers.IntegerField()
    failed = serializers.IntegerField()
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    rejected = serializers.IntegerField()
    annotations = serializers.IntegerField()
    done_bytes = serializers.IntegerField()
    total_bytes = serializers.IntegerField()


class GroupSerializer(serializers.ModelSerializer):
    """Files that were sent together."""

    summary = serializers.SerializerMethodField()
    imports = ImportSerializer(source="jobs", many=True)

    class Meta:
        model = ImportGroup
        fields = ("id", "name", "created_at", "summary", "imports")

    @extend_schema(responses=SummarySerializer)
    def get_summary(self, group: ImportGroup) -> dict[str, int]:
        return dict(SummarySerializer(summary_of(group)).data)


class StartedSerializer(serializers.Serializer):
    """The imports that were started; `group` is null for one file."""

    group = serializers.IntegerField(allow_null=True)
    imports = ImportSerializer(many=True)


class ImportGroups(APIView):
    """Starting imports of several files."""

    @extend_schema(operation_id="start_imports", request=FilesSerializer, responses={202: StartedSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Take in files that lie on the server already. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        serializer = FilesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        given = serializer.validated_data
        options = options_in(given.get("mapping", ""), given.get("options", ""))
        manner = Manner(given["format"], given["decomposition"], options)
        by = caller(request)
        if given.get("uploads"):
            jobs = import_uploads(by=by, project=project, uploads=given["uploads"], manner=manner, name=given["name"])
        else:
            jobs = import_from_root(by=by, project=project, root=given["storage"], path=given["path"], manner=manner)
        return Response(StartedSerializer({"group": jobs[0].group_id, "imports": jobs}).data, status=202)


class ImportGroupDetail(APIView):
    """One group of imports."""

    @extend_schema(operation_id="get_import_group", responses=GroupSerializer)
    def get(self, request: Request, group_id: int) -> Response:
        """The report of each file and their sum. A manager may."""
        groups = ImportGroup.objects.select_related("project").filter(project__in=visible_projects(request.user))
        group = groups.filter(pk=group_id).first()
        if group is None:
            raise Missing("import_group_not_found", Message("import_group_not_found", group_id=group_id))
        require_role(request.user, group.project, Membership.Role.MANAGER)
        return Response(GroupSerializer(group).data)


class RootSerializer(serializers.Serializer):
    """A place that the operator lets people import from; what opens it stays on the server."""

    name = serializers.CharField()
    url = serializers.CharField()


class ImportRoots(APIView):
    """Where imports may come from, beside uploads."""

    @extend_schema(operation_id="list_import_roots", responses=RootSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The roots that the operator configured. A manager may."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([{"name": name, "url": root["url"]} for name, root in settings.IMPORT_ROOTS.items()])
