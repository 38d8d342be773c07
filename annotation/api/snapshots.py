"""Snapshots: inspect one, download it, read its dataset card."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

import msgspec
from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query
from annotation.api.downloads import download, in_part
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import find_project, find_visible
from annotation.labels.datasets.comparing import Change, SnapshotDiff, diff_snapshots
from annotation.labels.datasets.contamination import find_benchmark, request_check, take_upload
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.plans import MixedKinds, plan_export
from annotation.labels.datasets.presets import PRESETS
from annotation.labels.datasets.snapshot_export import content_type, deliver_snapshot, export_name, export_tag
from annotation.models import Membership, Snapshot
from prm.contamination import ContaminationReport
from prm.exporters import EXPORTERS
from prm.formats.writing import CONTENT_TYPES
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, Split

MOST_CHANGES = 1000

Filters = Annotated[
    dict[str, Any],
    Meta(
        description="`splits`, `domains`, `policies`, `visibilities`, `source_kinds`, `annotators` (pseudonyms), "
        "`finish_reasons`, `lanes`, `generations`, `guidelines` (versions; each is a list; empty is all), "
        "`text` (in the problem or a step), `submitted_from`, `submitted_to` (ISO 8601), `min_annotations` (1), "
        "`min_posterior` (0 to 1: how sure the consensus is of each step), `revisions` (latest or all), `set_aside`, "
        "`gold`, `critiques`, `comments`, `hints` (included or left_out), `consensus` (shares or a consensus model), "
        "`fit` (the number of a consensus fit of that model; by default one of the labels as they are now), "
        "`agreement` (`sources`: two or more; `on`: first_error, within_one or presence; `keep`: agreeing or "
        "differing), `graded` (0: lists up to this many unread solutions of the pool with a right final answer, and as "
        "many with a wrong one, for training; no file has them), `estimates` (0: adds as many with Monte Carlo "
        "estimates)."
    ),
]


PresetName = Annotated[
    str,
    Meta(
        description="Begin with the filters of a preset; `filters` replace those of the same name. Default: none.",
        extra_json_schema={"enum": ["", *PRESETS]},
    ),
]


class Refusal(msgspec.Struct):
    code: str
    message: Annotated[str, about("A sentence for people.")]


class ExportPlan(Row):
    """What a download in a format contains by default, and what it leaves out."""

    format: str
    splits: Annotated[list[Split], about("The splits in the file.")]
    solutions: Annotated[Count, about("Solutions in the file.")]
    rows: Annotated[Count, about("Lines or rows in the file.")]
    left_out: Annotated[dict[str, Count], about("Solutions left out of the file, by split or other reason.")]
    ends_early: Annotated[dict[str, Count], about("Lines that end before the agreed path, by reason.")]
    not_held: Annotated[dict[str, Count], about("Information in the snapshot that the format cannot express.")]
    mixed_kinds: Annotated[
        dict[str, Count], about("Labels by source kind, if the format does not distinguish several.")
    ]
    refusal: Annotated[Refusal | None, about("Why this file cannot be made; null if it can.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        refusal = row.refusal and Refusal(row.refusal.code, row.refusal.message)
        return super().of(row, refusal=refusal, **others)


class SnapshotRow(Row):
    """A snapshot. `counts` describes its contents, `exports` what a download in each format contains."""

    paths: ClassVar[dict[str, str]] = {"project": "project.slug", "fit": "fit.number"}

    id: Id
    project: str
    sha256: str
    graded_sha256: Annotated[
        str, about("SHA-256 of the list of unread solutions with grades or estimates; empty without any.")
    ]
    fit: Annotated[int | None, about("The number of its consensus fit; null for shares of votes.")]
    filters: Annotated[dict[str, Any], about("The filters that it was made with; omitted ones have their defaults.")]
    counts: Annotated[dict[str, Any], about("What the snapshot contains.")]
    exports: Annotated[list[ExportPlan], about("What a download in each format contains.")]
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        exports = [ExportPlan.of(plan_export(row, format)) for format in EXPORTERS]
        return super().of(row, exports=exports, **others)


class CardQuery(msgspec.Struct, kw_only=True):
    neutral: Annotated[NeutralPolicy, about("How to map neutral steps in formats with only two classes.")] = "positive"
    splits: Annotated[
        list[Split] | None,
        Meta(
            description="The splits in the file. Default: all; for a format whose lines have no split, those that the "
            "snapshot was filtered by, else the pool."
        ),
    ] = None
    mixed_kinds: Annotated[
        MixedKinds,
        about("Whether a format that does not state the source kind may mix labels of several kinds."),
    ] = "refuse"


class DownloadQuery(CardQuery, kw_only=True):
    format: Annotated[
        str, Meta(description="The name of an export format.", extra_json_schema={"enum": list(EXPORTERS)})
    ] = "prm800k"


class Snapshots(PagedView):
    """The snapshots of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_snapshots", request=None, responses=Page[SnapshotRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's snapshots, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        snapshots = Snapshot.objects.filter(project=project).select_related("project", "fit")
        return self.page_of(snapshots, request, SnapshotRow.of)


class SnapshotDetail(APIView):
    """One snapshot."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_snapshot", responses=SnapshotRow)
    def get(self, request: Request, snapshot_id: int) -> Response:
        """The contents of the snapshot. Managers only."""
        return Response(SnapshotRow.of(_find(request, snapshot_id)))


class Download(APIView):
    """A snapshot as a file."""

    scopes = {"GET": "export"}

    @extend_schema(
        operation_id="download_snapshot",
        parameters=query_of(DownloadQuery),
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: Request, snapshot_id: int) -> HttpResponseBase:
        """The snapshot as a file of an export format. Managers only.

        The `ETag` depends on the content, the options, the version of the format's writer and the card in the file.
        """
        snapshot = _find(request, snapshot_id)
        query = read_query(request, DownloadQuery)
        options: dict[str, Any] = {
            "neutral": query.neutral,
            "splits": query.splits,
            "mixed_kinds": query.mixed_kinds,
        }
        etag = quote_etag(export_tag(snapshot, query.format, options))
        if unchanged := get_conditional_response(request, etag=etag):
            return unchanged
        content = deliver_snapshot(
            by=caller(request),
            snapshot=snapshot,
            format=query.format,
            via="api",
            **options,
        )
        file = download(content, name=export_name(snapshot, query.format), content_type=content_type(query.format))
        file["ETag"] = etag
        return in_part(request, file)


class Card(APIView):
    """The dataset card of a snapshot."""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="get_card",
        parameters=query_of(CardQuery),
        responses={(200, "text/markdown"): OpenApiTypes.STR},
    )
    def get(self, request: Request, snapshot_id: int) -> HttpResponse:
        """The dataset card in Markdown: what was labelled, by whom and how. Managers only."""
        snapshot = _find(request, snapshot_id)
        query = read_query(request, CardQuery)
        card = dataset_card(snapshot, neutral=query.neutral, splits=query.splits, mixed_kinds=query.mixed_kinds)
        return HttpResponse(card, content_type="text/markdown; charset=utf-8")


class DiffQuery(msgspec.Struct, kw_only=True):
    limit: Annotated[int, Meta(ge=0, le=MOST_CHANGES, description="The most changes in `changes`.")] = 100


class DiffBody(SnapshotDiff, kw_only=True):
    """The differences between two snapshots: their numbers by reason, and the first of them."""

    changes: Annotated[list[Change], about("The first differences.")]


class SnapshotDifference(APIView):
    """Two snapshots of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="diff_snapshots", parameters=query_of(DiffQuery), responses=DiffBody)
    def get(self, request: Request, snapshot_id: int, old_id: int) -> Response:
        """The labels that this snapshot adds to, changes in, and lacks from an older one, with reasons. Managers only.

        The reasons come from both files, their filters and the present state of the project.
        """
        new, old = _find(request, snapshot_id), _find(request, old_id)
        limit, changes = read_query(request, DiffQuery).limit, list[Change]()
        diff = diff_snapshots(old, new, on_change=lambda one: changes.append(one) if len(changes) < limit else None)
        return Response(DiffBody(**msgspec.structs.asdict(diff), changes=changes))


class ContaminationRow(JobRow):
    """A comparison of a snapshot with a benchmark file, by shared runs of words."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)

    snapshot: Annotated[Id, about("The id of the snapshot; null for none.")]
    filename: Annotated[str, about("Empty if only near-duplicates inside the snapshot are looked for.")]
    total: Annotated[Count, about("Solutions in the snapshot.")]
    done: Annotated[Count, about("Solutions that have been read.")]
    result: Annotated[ContaminationReport | None, about("Null until the check is done.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        report = msgspec.convert(row.result, ContaminationReport) if row.result else None
        return super().of(row, result=report, **others)


class CheckToStart(msgspec.Struct):
    """The benchmark: a complete `upload`, or a `path` in a `storage`. Without one, only near-duplicates are found."""

    upload: Annotated[UUID | None, about("The id of a complete upload.")] = None
    storage: Annotated[str, about("The name of an import root.")] = ""
    path: Annotated[str, Meta(max_length=1000), about("A file in the storage.")] = ""

    def __post_init__(self) -> None:
        if self.upload and self.storage:
            raise ValueError(Message("uploads_or_storage"))


class ContaminationChecks(PagedView):
    """The contamination checks of a snapshot."""

    scopes = {"GET": "read", "POST": "export"}

    @extend_schema(operation_id="list_contamination_checks", request=None, responses=Page[ContaminationRow])
    def get(self, request: Request, snapshot_id: int) -> Response:
        """The checks of the snapshot, latest first. Managers only."""
        checks = _find(request, snapshot_id).contamination_checks.select_related("project", "requested_by")
        return self.page_of(checks, request, ContaminationRow.of)

    @extend_schema(operation_id="check_contamination", request=CheckToStart, responses={202: ContaminationRow})
    def post(self, request: Request, snapshot_id: int) -> Response:
        """Compare the snapshot with a benchmark file, and its problems with each other. Managers only."""
        body, snapshot, by = read_body(request, CheckToStart), _find(request, snapshot_id), caller(request)
        benchmark = find_benchmark(body.storage, body.path) if body.storage else None
        if body.upload:
            benchmark = take_upload(by=by, project=snapshot.project, upload=body.upload)
        check = request_check(by=by, snapshot=snapshot, benchmark=benchmark)
        return Response(ContaminationRow.of(check), status=202)


def _find(request: Request, snapshot_id: int) -> Snapshot:
    otherwise = Message("snapshot_not_found", snapshot_id=snapshot_id)
    return find_visible(request.user, Snapshot.objects.all(), snapshot_id, otherwise, Membership.Role.MANAGER)
