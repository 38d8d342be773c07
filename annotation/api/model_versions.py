"""Model versions of a project: what each is, which of them serve, which are kept, how far they scored the pool."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, Written
from annotation.core.membership.access import STAFF, find_project, find_visible
from annotation.core.wording import in_reader_words
from annotation.loop.model_jobs.retention import due_versions
from annotation.loop.pool.scoring import rescore_pool
from annotation.loop.registry import (
    clear_domain_champion,
    confirm_version,
    pin_version,
    promote_version,
    set_domain_champion,
    unpin_version,
)
from annotation.models import ModelVersion, PoolScoring
from prm.messages import Message


class ModelVersionRow(Row):
    id: Id
    number: int
    state: ModelVersion.State
    sha256: str
    metrics: Annotated[dict[str, Any], Meta(description="Measured on the holdout as it was labelled then.")]
    gate: Annotated[dict[str, Any], Meta(description="The verdict with its interval and its sentence.")]
    origin: ModelVersion.Origin
    pinned: bool
    created_at: datetime
    promoted_at: datetime | None
    confirmed_at: datetime | None
    measured: Annotated[bool, Meta(description="Whether the gate measured it on the holdout.")]
    answers_programs: Annotated[bool, Meta(description="Whether /score, sessions and /pooling may answer with it.")]
    overruled: Annotated[bool, Meta(description="Whether the gate rejected it and a manager promoted it all the same.")]
    weights_deleted_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, gate=in_reader_words(row.gate), **others)


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
            measured_against=row.measurement.champion,
            **others,
        )


class DescribedModel(ModelVersionRow):
    project: str
    manifest: Annotated[dict[str, Any], Meta(description="What the library wrote beside the weights.")]
    audits: Annotated[
        dict[str, Any],
        Meta(description="The last audit's findings, and what it was made on; empty before the first."),
    ]
    lineage: Lineage
    domains: Annotated[list[str], Meta(description="Those that it serves in the champion's place.")]

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
    versions = ModelVersion.objects.select_related("snapshot", "run")
    return find_visible(request.user, versions, version_id, Message("no_such_model"), *roles, code="model_not_found")


class DomainChampionRow(Row):
    paths: ClassVar[dict[str, str]] = {"number": "model_version.number"}

    domain: str
    model_version: Id
    number: int
    chosen_at: datetime


class ChosenDomain(msgspec.Struct):
    domain: Annotated[Written, Meta(max_length=100, description="Of some problem of the project.")]


class DomainChampions(PagedView):
    """The domains of a project that have a champion of their own."""

    @extend_schema(operation_id="list_domain_champions", responses=Page[DomainChampionRow])
    def get(self, request: Request, slug: str) -> Response:
        """By domain; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.domain_champions.select_related("model_version"), request, DomainChampionRow.of)

    @extend_schema(
        operation_id="clear_domain_champion", request=None, parameters=query_of(ChosenDomain), responses={204: None}
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Let the project's champion serve the domain again. A manager may."""
        project = find_project(request.user, slug)
        clear_domain_champion(by=caller(request), project=project, domain=read_query(request, ChosenDomain).domain)
        return Response(status=204)


class ServeDomain(APIView):
    """Letting a version serve a domain."""

    @extend_schema(operation_id="serve_domain", request=ChosenDomain, responses=DomainChampionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make the version the champion of one domain, in place of the project's. A manager may."""
        version = find_version(request, version_id)
        domain = read_body(request, ChosenDomain).domain
        return Response(DomainChampionRow.of(set_domain_champion(by=caller(request), version=version, domain=domain)))


class Retention(msgspec.Struct):
    """Versions by their numbers."""

    keep_models: Annotated[int, Meta(description="So many of the latest are kept, by the project's policies.")]
    pinned: list[int]
    due: Annotated[list[int], Meta(description="Those whose weights the next hourly sweep deletes.")]
    deleted: Annotated[list[int], Meta(description="Those whose weights are gone.")]


class ModelRetention(APIView):
    """What the retention policy of a project keeps."""

    @extend_schema(operation_id="get_model_retention", responses=Retention)
    def get(self, request: Request, slug: str) -> Response:
        """What is kept, what goes next, what is gone; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        numbers = project.model_versions.order_by("number").values_list("number", flat=True)
        state = Retention(
            keep_models=project.policies.keep_models,
            pinned=list(numbers.filter(pinned=True)),
            due=[version.number for version in due_versions(project)],
            deleted=list(numbers.filter(weights_deleted_at__isnull=False)),
        )
        return Response(state)


class PoolScoringRow(Row):
    """Of the solutions that were last looked for. `error` says why scoring ended; a person starts it again."""

    state: PoolScoring.State
    wanted: Count
    left: Annotated[Count, Meta(description="Solutions yet to score.")]
    steps: Count
    seconds: float
    cut_at: datetime | None
    finished_at: datetime | None
    error: str
    agreement: Annotated[
        dict[str, Any],
        Meta(description="How a sample of the stored scores agreed with fresh ones; empty before."),
    ]
    checked_at: datetime | None


class PoolScores(APIView):
    """The scores of the pool by a version."""

    @extend_schema(operation_id="get_pool_scoring", responses=PoolScoringRow)
    def get(self, request: Request, version_id: int) -> Response:
        """How far it is; for reviewers and managers."""
        return Response(_state(find_version(request, version_id, *STAFF)))

    @extend_schema(operation_id="rescore_pool", request=None, responses={202: PoolScoringRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Throw every stored score of the version away and compute them again. A manager may."""
        version = find_version(request, version_id)
        rescore_pool(by=caller(request), version=version)
        return Response(_state(version), status=202)


def _state(version: ModelVersion) -> PoolScoringRow:
    none_yet = PoolScoring(model_version=version, state=PoolScoring.State.DONE)
    return PoolScoringRow.of(PoolScoring.objects.filter(model_version=version).first() or none_yet)
