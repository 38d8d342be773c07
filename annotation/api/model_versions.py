"""Model versions of a project: their description, promotion, retention and pool scores."""

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
from annotation.core.bounds import Count, Id, NonBlank, about
from annotation.core.membership.access import STAFF, find_project, find_visible
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
from annotation.models.model_version import AuditSummary, Measurement, Verdict
from annotation.models.pool_score import ScoreAgreement
from prm.messages import Message


class ModelVersionRow(Row):
    id: Id
    number: int
    state: ModelVersion.State
    sha256: str
    metrics: Annotated[Measurement, about("Metrics on the holdout as it was labelled at that time.")]
    gate: Annotated[Verdict | None, about("The gate's verdict; null before the gate.")]
    origin: Annotated[ModelVersion.Origin, about("Whether it was trained here or imported.")]
    pinned: bool
    created_at: datetime
    promoted_at: Annotated[datetime | None, about("When it became champion; null if it never did.")]
    confirmed_at: Annotated[
        datetime | None, about("When a manager confirmed an unmeasured version; null if nobody did.")
    ]
    measured: Annotated[bool, about("Whether the gate measured the model on the holdout.")]
    answers_programs: Annotated[bool, about("Whether /score, sessions and /pooling may use the model.")]
    overruled: Annotated[bool, about("Whether a manager promoted the model although the gate rejected it.")]
    weights_deleted_at: Annotated[datetime | None, about("When the weights were deleted; null if they exist.")]


class Lineage(Row):
    """Where a model comes from. A field is null if it does not apply or is unknown."""

    run: Annotated[int | None, about("The number of the round; null for none.")]
    snapshot: Annotated[Id | None, about("The id of the training data; null for none.")]
    snapshot_sha256: str | None
    imported_from: Annotated[str, about("The folder that the model was imported from; empty for a trained model.")]
    base: Annotated[str | None, about("The backbone that the model was trained from.")]
    base_sha256: Annotated[str | None, about("SHA-256 of the backbone's weights.")]
    code: Annotated[str | None, about("The version of the code that trained it.")]
    seed: int | None
    measured_against: Annotated[int | None, about("Number of the champion at that time.")]

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
    manifest: Annotated[dict[str, Any], about("The manifest that the library wrote beside the weights.")]
    audits: Annotated[AuditSummary | None, about("The findings of the latest audit; null before the first.")]
    lineage: Annotated[Lineage, about("Where the model comes from.")]
    domains: Annotated[list[str], about("Domains that the model serves in place of the project's champion.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(
            row,
            project=row.project.slug,
            manifest=row.shown_manifest,
            lineage=Lineage.of(row),
            domains=[champion.domain for champion in row.domains.all()],
            **others,
        )


class ModelVersions(PagedView):
    """The models of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_models", responses=Page[ModelVersionRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's models, latest first. Reviewers and managers only."""
        versions = find_project(request.user, slug, *STAFF).model_versions.order_by("-number")
        return self.page_of(versions, request, ModelVersionRow.of)


class ModelVersionDetail(APIView):
    """One model."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_model", responses=DescribedModel)
    def get(self, request: Request, version_id: int) -> Response:
        """A model with its manifest, metrics, verdict, lineage and audits. Reviewers and managers only."""
        return Response(DescribedModel.of(find_version(request, version_id, *STAFF)))


class Promote(APIView):
    """Promoting a model by hand."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="promote_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make a model the champion, for example to roll back. Managers only."""
        version = promote_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Confirm(APIView):
    """Confirming a model that the gate could not measure."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="confirm_model", request=None, responses=ModelVersionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Let an unmeasured model answer /score, sessions and /pooling. Managers only."""
        version = confirm_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionRow.of(version))


class Pin(APIView):
    """Pinning a model."""

    scopes = {"PUT": "train", "DELETE": "train"}

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
    versions = ModelVersion.objects.select_related("snapshot", "run")
    return find_visible(request.user, versions, version_id, Message("no_such_model"), *roles, code="model_not_found")


class DomainChampionRow(Row):
    paths: ClassVar[dict[str, str]] = {"number": "model_version.number"}

    domain: str
    model_version: Id
    number: Annotated[int, about("The number of the model version.")]
    chosen_at: Annotated[datetime, about("When it was chosen.")]


class ChosenDomain(msgspec.Struct):
    domain: Annotated[NonBlank, Meta(max_length=100, description="The domain of at least one problem in the project.")]


class DomainChampions(PagedView):
    """The domains of a project that have their own champion."""

    scopes = {"GET": "read", "DELETE": "train"}

    @extend_schema(operation_id="list_domain_champions", responses=Page[DomainChampionRow])
    def get(self, request: Request, slug: str) -> Response:
        """Domain champions, sorted by domain. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.domain_champions.select_related("model_version"), request, DomainChampionRow.of)

    @extend_schema(
        operation_id="clear_domain_champion", request=None, parameters=query_of(ChosenDomain), responses={204: None}
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Remove the domain's champion, so that the project's champion serves the domain again. Managers only."""
        project = find_project(request.user, slug)
        clear_domain_champion(by=caller(request), project=project, domain=read_query(request, ChosenDomain).domain)
        return Response(status=204)


class ServeDomain(APIView):
    """Promoting a model for one domain."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="serve_domain", request=ChosenDomain, responses=DomainChampionRow)
    def post(self, request: Request, version_id: int) -> Response:
        """Make the model the champion of one domain. Managers only."""
        version = find_version(request, version_id)
        domain = read_body(request, ChosenDomain).domain
        return Response(DomainChampionRow.of(set_domain_champion(by=caller(request), version=version, domain=domain)))


class Retention(msgspec.Struct):
    """Model numbers by what happens to their weights."""

    keep_models: Annotated[int, about("Number of latest models that the policy keeps.")]
    pinned: Annotated[list[int], about("The numbers of models whose weights stay because they are pinned.")]
    due: Annotated[list[int], about("Models whose weights the next hourly sweep deletes.")]
    deleted: Annotated[list[int], about("Models whose weights were deleted.")]


class ModelRetention(APIView):
    """The effect of a project's retention policy."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_model_retention", responses=Retention)
    def get(self, request: Request, slug: str) -> Response:
        """Models whose weights are kept, due for deletion, and deleted. Reviewers and managers only."""
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
    """Progress of scoring. `error` says why scoring failed; a person must start it again."""

    state: PoolScoring.State
    wanted: Annotated[Count, about("Number of solutions to score.")]
    left: Annotated[Count, about("Number of solutions still to score.")]
    steps: Annotated[Count, about("Number of scored steps.")]
    seconds: Annotated[float, about("Time of scoring, summed over workers, in seconds.")]
    cut_at: Annotated[datetime | None, about("When the pool was divided into parts to score; null before that.")]
    finished_at: datetime | None
    error: Annotated[str, about("Why it failed; empty if it did not.")]
    agreement: Annotated[
        ScoreAgreement | None,
        about("Agreement of a sample of stored scores with fresh ones; null before the first check."),
    ]
    checked_at: Annotated[
        datetime | None, about("When stored scores were last compared with fresh ones; null if never.")
    ]


class PoolScores(APIView):
    """A model's scores of the pool."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="get_pool_scoring", responses=PoolScoringRow)
    def get(self, request: Request, version_id: int) -> Response:
        """Progress of the job. Reviewers and managers only."""
        return Response(_state(find_version(request, version_id, *STAFF)))

    @extend_schema(operation_id="rescore_pool", request=None, responses={202: PoolScoringRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Delete every stored score of the model and score the pool again. Managers only."""
        version = find_version(request, version_id)
        rescore_pool(by=caller(request), version=version)
        return Response(_state(version), status=202)


def _state(version: ModelVersion) -> PoolScoringRow:
    none_yet = PoolScoring(model_version=version, state=PoolScoring.State.DONE)
    return PoolScoringRow.of(PoolScoring.objects.filter(model_version=version).first() or none_yet)
