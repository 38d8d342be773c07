"""Batches of labels that are suspected, set aside or in use."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, JSONObject, about
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.list_filters import BatchFilter
from annotation.models import LabelBatch
from prm.vocabulary import SourceKind


class BatchRow(Row):
    """The labels of one annotator, or of one imported source, in a period. `GET labels/?batch=` lists them."""

    paths: ClassVar[dict[str, str]] = {
        "annotator": "annotator.pseudonym",
        "source_kind": "source.kind",
        "source_name": "source.name",
        "decided_by": "decided_by.username",
    }

    id: Annotated[Id, about("The batch's id.")]
    annotator: Annotated[UUID | None, about("The annotator's pseudonym; null for an imported source.")]
    source_kind: Annotated[SourceKind | None, about("The imported source; null for an annotator.")]
    source_name: Annotated[str | None, about("The imported source's name; null for an annotator.")]
    since: Annotated[datetime, about("The first submission.")]
    until: Annotated[datetime, about("The last submission.")]
    state: Annotated[LabelBatch.State, about("A batch that is set aside does not count.")]
    judge: Annotated[LabelBatch.Judge, about("What the labels were compared with.")]
    evidence: Annotated[JSONObject, about("The figures of the comparison.")]
    reason: Annotated[str, about("The reason for the decision; empty for none.")]
    found_at: Annotated[datetime, about("When the batch was found.")]
    decided_by: Annotated[str | None, about("User name of the manager who decided; null if nobody did.")]
    decided_at: Annotated[datetime | None, about("When it was decided; null if it was not.")]


class Batches(PagedView):
    """The batches of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_batches", parameters=query_of(BatchFilter), responses=Page[BatchRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's batches, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        rows = project.label_batches.select_related("annotator", "source", "decided_by").order_by("-pk")
        return self.page_of(read_query(request, BatchFilter).narrow(project, rows), request, BatchRow.of)
