"""Consensus fits: list them, read one, make one."""

from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, about
from annotation.core.membership.access import STAFF, find_project
from annotation.core.reading import find_row
from annotation.labels.consensus.fits import request_fit
from annotation.models.consensus_fit import FitReport, LabelsSeen
from prm.messages import Message
from prm.vocabulary import SourceKind


class FitRow(JobRow):
    """A consensus fit: one run of the consensus model on the project's labels."""

    paths: ClassVar[dict[str, str]] = {**JobRow.paths, "previous": "previous.number"}

    number: Annotated[Count, about("Its number in the project, from 1.")]
    method: Annotated[str, about("The consensus model.")]
    source_kinds: Annotated[list[SourceKind], about("The kinds of sources that it pools; empty for all.")]
    previous: Annotated[int | None, about("The number of the fit that it started from; null for none.")]
    sha256: Annotated[str, about("Hash of its parameters, as in records; empty until it is done.")]
    seen: Annotated[LabelsSeen, about("The labels of the project at that time.")]
    report: Annotated[FitReport | None, about("What it found; null until it is done.")]


class ConsensusFits(PagedView):
    """The consensus fits of a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_consensus_fits", request=None, responses=Page[FitRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's fits, latest first. Reviewers and managers only."""
        fits = find_project(request.user, slug, *STAFF).consensus_fits
        return self.page_of(fits.select_related("project", "requested_by", "previous"), request, FitRow.of)

    @extend_schema(operation_id="fit_consensus", request=None, responses={202: FitRow})
    def post(self, request: Request, slug: str) -> Response:
        """Fit the consensus model of the policy to all labels, as a job. Managers only."""
        fit = request_fit(by=caller(request), project=find_project(request.user, slug))
        return Response(FitRow.of(fit), status=202)


class ConsensusFitDetail(APIView):
    """One consensus fit."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_consensus_fit", responses=FitRow)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The fit of this number. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        fits = project.consensus_fits.select_related("project", "requested_by", "previous").filter(number=number)
        return Response(FitRow.of(find_row(fits, Message("fit_not_found", number=number))))
