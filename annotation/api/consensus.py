"""The consensus of the labels of each solution."""

from typing import Annotated, cast

import msgspec
from django.db.models import Exists, OuterRef
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, Position, about
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.consensus.fits import find_fit, latest_fit
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.record_stream import VOTE_SHARES, stream_solutions
from annotation.labels.list_filters import SolutionFilter
from annotation.models import Annotation
from annotation.work.gold.designation import is_gold
from prm.formats.record import Record
from prm.vocabulary import SourceKind, Split


class ConsensusStep(msgspec.Struct):
    """The consensus on one completion: the probability of each rating."""

    position: Annotated[Position, about("Place in the solution, from 0.")]
    alternative: Annotated[Count, about("0 for the sampled completion; others are alternatives to it.")]
    good: Annotated[float, Meta(ge=0, le=1, description="Posterior probability of good.")]
    neutral: Annotated[float, Meta(ge=0, le=1, description="Posterior probability of neutral.")]
    bad: Annotated[float, Meta(ge=0, le=1, description="Posterior probability of bad.")]
    votes: Annotated[Count, about("Number of ratings; 1 if it is adjudicated.")]
    adjudicated: Annotated[bool, about("Whether a reviewer decided the rating.")]


class ConsensusRow(msgspec.Struct):
    """The consensus on one solution."""

    solution: Annotated[Id, about("The id of the solution.")]
    external_id: Annotated[str, about("The id in the file or the request that it came from; may be empty.")]
    split: Annotated[Split, about("The split of the problem.")]
    method: Annotated[str, about("How ratings are combined: a consensus model, or `shares` of votes.")]
    fit: Annotated[int | None, about("The number of the fit; null for shares of votes.")]
    source_kinds: Annotated[list[SourceKind], about("The kinds of sources that are pooled.")]
    labels: Annotated[Count, about("Number of labels that are pooled.")]
    steps: Annotated[list[ConsensusStep], about("The rated completions, by position and alternative.")]


class ConsensusQuery(SolutionFilter, kw_only=True):
    source_kinds: Annotated[
        list[SourceKind],
        about("The kinds of sources to pool. Default: those of the fit; without a fit, all."),
    ] = []
    fit: Annotated[
        Count | UnsetType,
        about("The number of a consensus fit; 0 for shares of votes. Default: the policy's latest fit."),
    ] = UNSET


class Consensus(PagedView):
    """The consensus of a project's labels."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_consensus", parameters=query_of(ConsensusQuery), responses=Page[ConsensusRow])
    def get(self, request: Request, slug: str) -> Response:
        """The consensus on each labelled solution under a consensus fit. Latest solution first.

        It has the latest revisions, without gold and without labels that are set aside. Votes count as soon as they are
        submitted; what the fit learned about annotators is as old as the fit. A project without a fit has shares of
        votes. A page has fewer rows than `limit` if no label of a solution is left. Reviewers and managers only.
        """
        project = find_project(request.user, slug, *STAFF)
        query = read_query(request, ConsensusQuery)
        fit = latest_fit(project) if query.fit is UNSET else find_fit(project, query.fit) if query.fit else None
        labelled = Exists(Annotation.objects.filter(solution=OuterRef("pk")))
        rows = query.narrow(project, project.solutions.filter(labelled).exclude(is_gold()).order_by("-pk"))
        page, following = self.read_page(rows.only("project"), request)
        filters = SnapshotFilters(source_kinds=query.source_kinds or (fit.source_kinds if fit else []))
        ids = [row.pk for row in page]
        records = dict(stream_solutions(project=project, filters=filters, fit=fit, among=ids))
        number = fit.number if fit else None
        return Response(Page(following, [_row(pk, records[pk], number) for pk in ids if pk in records]))


def _row(solution: int, record: Record, fit: int | None) -> ConsensusRow:
    return ConsensusRow(
        solution=solution,
        external_id=record.external_id,
        split=cast(Split, record.split),
        method=record.consensus_method or VOTE_SHARES,
        fit=fit,
        source_kinds=sorted({label.source_kind for label in record.annotations}),
        labels=len(record.annotations),
        steps=[
            ConsensusStep(*(getattr(step, name) for name in ConsensusStep.__struct_fields__))
            for step in record.consensus
        ],
    )
