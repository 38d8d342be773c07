"""The models of a project: details, promotion, confirmation and pinning."""

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
from annotation.core.wording import in_reader_words
from annotation.loop.registry import confirm_version, pin_version, promote_version, unpin_version
from annotation.models import ModelVersion
from prm.messages import Message


class ModelVersionRow(Row):
    id: Id
    number: int
    state: ModelVersion.State
    sha256: str
    metrics: Annotated[dict[str, Any], Meta(description="Metrics on the holdout as it was labelled at that time.")]
    gate: Annotated[dict[str, Any], Meta(description="The gate's verdict, with its interval and its sentence.")]
    origin: ModelVersion.Origin
    pinned: bool
    created_at: datetime
    promoted_at: datetime | None
    confirmed_at: datetime | None
    measured: Annotated[bool, Meta(description="Whether the gate measured the model on the holdout.")]
    answers_programs: Annotated[bool, Meta(description="Whether /score, sessions and /pooling may use the model.")]
    overruled: Annotated[bool, Meta(description="Whether a manager promoted the model although the gate rejected it.")]
    weights_deleted_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, gate=in_reader_words(row.gate), **others)


class Lineage(Row):
    """Where a model comes from. A field is null if it does not apply or is unknown."""

    run: int | None
    snapshot: Id | None
    snapshot_sha256: str | None
    imported_from: Annotated[
        str, Meta(description="The folder that the model was imported from; empty for a trained model.")
    ]
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
            measured_against=row.measurement.champion,
            **others,
        )


class DescribedModel(ModelVersionRow):
    project: str
    manifest: Annotated[dict[str, Any], Meta(description="The manifest that the library wrote beside the weights.")]
    audits: Annotated[
        dict[str, Any],
        Meta(description="The findings of the latest audit and the data it used; empty before the first audit."),
    ]
    lineage: Lineage
    domains: Annotated[list[str], Meta(description="Domains that the model serves in place of the project's champion.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        findings = [in_reader_words(finding) for finding in row.audits.get("findings", [])]
        return super().of(
            row,
            project=row.project.slug,
            manifest=row.shown_manifest,
            audits=row.audits and row.audits | {"findings": findings},
            lineage=Lineage.of(row),
            domains=[own.domain for own in row.domains.all()],
            **others,
        )


class ModelVersions(PagedView):
    """The models of a project."""

    @extend_schema(operation_id="list_models", responses=Page[ModelVersionRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's models, latest first. Reviewers and managers only."""
        versions = find_project(request.user, slug, *STAFF).model_versions.order_by("-number")
        return self.page_of(versions, request, ModelVersionRow.of)


class ModelVersionDetail(APIView):
    """One model."""

    @extend_schema(operation_id="get_model", responses=DescribedModel)
    def get(self, request: Request, version_id: int) -> Response:
        """A model with its manifest, metrics, verdict, lineage and audits. Reviewers and managers only."""
        return Response(DescribedModel.of(find_version(request, version_id, *STAFF)))


class Promote(APIView):
    """Promoting a model by hand."""

    @extend_schema(operation_id="promote_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make a model the champion, for example to roll back. Managers only."""
        version = promote_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Confirm(APIView):
    """Confirming a model that the gate could not measure."""

    @extend_schema(operation_id="confirm_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Let an unmeasured model answer /score, sessions and /pooling. Managers only."""
        version = confirm_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Pin(APIView):
    """Pinning a model."""

    @extend_schema(operation_id="pin_model", request=None, responses=ModelVersionRow)
    def put(self, request: Request, version_id: int) -> Response:
        """Pin the model: the gate does not replace it as champion, and its weights are kept. Managers only."""
        version = pin_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))

    @extend_schema(operation_id="unpin_model", request=None, responses=ModelVersionRow)
    def delete(self, request: Request, version_id: int) -> Response:
        """Unpin the model, so that gate and retention apply again. Managers only."""
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
