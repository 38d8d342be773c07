"""Model versions of a project: what each is, which of them serves, which are kept."""

from datetime import datetime
from typing import Annotated, Any, Self

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Id
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, require_role, visible_projects
from annotation.loop.registry import confirm_version, pin_version, promote_version, unpin_version
from annotation.models import ModelVersion
from annotation.models.model_version import AuditSummary, Measurement, Verdict
from prm.messages import Message


class ModelVersionRow(Row):
    id: Id
    number: int
    state: ModelVersion.State
    sha256: str
    metrics: Annotated[Measurement, Meta(description="On the holdout as it was labelled then.")]
    gate: Annotated[Verdict | None, Meta(description="Null before there is a verdict.")]
    origin: ModelVersion.Origin
    pinned: bool
    created_at: datetime
    promoted_at: datetime | None
    confirmed_at: datetime | None
    measured: Annotated[bool, Meta(description="Whether the gate measured it on the holdout.")]
    answers_programs: Annotated[bool, Meta(description="Whether /score, sessions and /pooling may answer with it.")]
    overruled: Annotated[bool, Meta(description="Whether the gate rejected it and a manager promoted it all the same.")]
    weights_deleted_at: datetime | None


class Lineage(Row):
    """Where a version comes from; null where that does not apply or is not known."""

    run: int | None
    snapshot: Id | None
    snapshot_sha256: str | None
    imported_from: Annotated[str, Meta(description="The folder it was imported from; empty for a trained one.")]
    base: str | None
    base_sha256: str | None
    code: str | None
    seed: int | None
    measured_against: Annotated[int | None, Meta(description="Number of the champion at that time.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        manifest = row.manifest
        return super().of(
            row,
            run=row.run.number if hasattr(row, "run") else None,
            snapshot_sha256=row.snapshot and row.snapshot.sha256,
            base=row.shown_manifest.get("base"),
            base_sha256=manifest.get("base_sha256"),
            code=manifest.get("versions", {}).get("prm"),
            seed=manifest.get("config", {}).get("seed"),
            measured_against=row.metrics.champion,
            **others,
        )


class DescribedModel(ModelVersionRow):
    project: str
    manifest: Annotated[dict[str, Any], Meta(description="What the library wrote beside the weights.")]
    audits: Annotated[AuditSummary | None, Meta(description="Null before the first audit.")]
    lineage: Lineage
    domains: Annotated[list[str], Meta(description="Those that it serves in the champion's place.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(
            row,
            project=row.project.slug,
            manifest=row.shown_manifest,
            lineage=Lineage.of(row),
            domains=[own.domain for own in row.domains.all()],
            **others,
        )


class ModelVersions(PagedView):
    """The versions of a project's model."""

    @extend_schema(operation_id="list_models", responses=Page[ModelVersionRow])
    def get(self, request: Request, slug: str) -> Response:
        """The latest first; for reviewers and managers."""
        versions = find_project(request.user, slug, *STAFF).model_versions.order_by("-number")
        return self.page_of(versions, request, ModelVersionRow.of)


class ModelVersionDetail(APIView):
    """One version."""

    @extend_schema(operation_id="get_model", responses=DescribedModel)
    def get(self, request: Request, version_id: int) -> Response:
        """A version with its manifest, metrics, verdict, lineage and audits; for reviewers and managers."""
        return Response(DescribedModel.of(find_version(request, version_id, *STAFF)))


class Promote(APIView):
    """Letting a version serve by hand."""

    @extend_schema(operation_id="promote_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make a version the champion: the rollback. A manager may."""
        version = promote_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Confirm(APIView):
    """Letting a version answer programs that the gate could not measure."""

    @extend_schema(operation_id="confirm_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Let an unmeasured version answer /score, sessions and /pooling. A manager may."""
        version = confirm_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Pin(APIView):
    """Keeping a version, whatever gate and retention say."""

    @extend_schema(operation_id="pin_model", request=None, responses=ModelVersionRow)
    def put(self, request: Request, version_id: int) -> Response:
        """Pin: as champion it is not replaced by the gate, and its weights are kept. A manager may."""
        version = pin_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))

    @extend_schema(operation_id="unpin_model", request=None, responses=ModelVersionRow)
    def delete(self, request: Request, version_id: int) -> Response:
        """Unpin: gate and retention decide again. A manager may."""
        version = unpin_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


def find_version(request: Request, version_id: int, *roles: str) -> ModelVersion:
    """The version, for members of its project with one of `roles`. Raises Missing (`model_not_found`), Forbidden."""
    versions = ModelVersion.objects.select_related("project", "snapshot", "run")
    version = versions.filter(pk=version_id, project__in=visible_projects(request.user)).first()
    if version is None:
        raise Missing(Message("no_such_model"), code="model_not_found")
    if roles:
        require_role(request.user, version.project, *roles)
    return version
