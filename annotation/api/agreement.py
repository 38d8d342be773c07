"""Agreement of annotators, by what their labels and solutions are."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import read_query
from annotation.api.schema import query_of
from annotation.core.bounds import about, invalid, one_of
from annotation.core.membership.access import STAFF, find_project, visible_projects
from annotation.labels.agreement.cube import AgreementCell, Compared, Cube, Dimension
from annotation.labels.agreement.measures import MEASURES
from annotation.labels.agreement.shared_labels import Between
from prm.messages import Message

MeasureName = Annotated[
    str,
    one_of(MEASURES),
    Meta(
        description="`exact` and `within_one` are shares of pairs of labels with the same first error, or at most one "
        "step apart. The others correct for chance: `alpha` is Krippendorff's, `kappa` Cohen's (averaged over pairs of "
        "annotators) and `fleiss` Fleiss' kappa, of first errors or of ratings of steps."
    ),
]
Rows = Annotated[Dimension | UnsetType, about("The dimension of the rows; one cell if left out.")]


class ProjectsQuery(msgspec.Struct):
    measure: MeasureName = "exact"
    between: Annotated[Between, about("Whose labels are compared.")] = "people"
    rows: Rows = UNSET


class AgreementQuery(Compared, kw_only=True):
    measure: MeasureName = "exact"
    rows: Rows = UNSET
    columns: Annotated[
        Dimension | UnsetType, about("The dimension of the columns; needs `rows`, and differs from it.")
    ] = UNSET


class AgreementReport(msgspec.Struct):
    """Agreement of annotators; gold, screening and adjudications are left out."""

    measure: MeasureName
    whole: Annotated[AgreementCell | None, about("All cells together; null if nothing is compared.")]
    cells: Annotated[list[AgreementCell], about("The cells with labels, in order; empty without `rows`.")]


class ProjectAgreement(msgspec.Struct):
    """The agreement in one of several projects."""

    project: Annotated[str, about("The project's slug.")]
    cells: Annotated[list[AgreementCell], about("The cells with labels, in order.")]


class AgreementOfProject(APIView):
    """The agreement in a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_agreement", parameters=query_of(AgreementQuery), responses=AgreementReport)
    def get(self, request: Request, slug: str) -> Response:
        """Agreement of the whole project, and by one or two dimensions. Reviewers and managers only.

        Every solution is in one cell of a dimension, except of `annotator` and `pair`, which compare two annotators at
        a time.
        `solutions/` with the same parameters lists the solutions of a cell; it needs `between`.
        `contrasts/` has the agreement between label sources.
        """
        query = read_query(request, AgreementQuery)
        if query.columns is not UNSET and query.rows in (UNSET, query.columns):
            raise invalid("columns", Message("columns_need_other_rows"))
        by = [name for name in (query.rows, query.columns) if name is not UNSET]
        cube = Cube(find_project(request.user, slug, *STAFF), query)
        whole = next(iter(cube.cells(query.measure)), None)
        cells = cube.cells(query.measure, *by) if by else []
        return Response(AgreementReport(query.measure, whole, cells))


class AgreementByProject(APIView):
    """The agreement in several projects."""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="compare_agreement", parameters=query_of(ProjectsQuery), responses=list[ProjectAgreement]
    )
    def get(self, request: Request) -> Response:
        """Agreement in each project that the caller reviews or manages, by at most one dimension."""
        query = read_query(request, ProjectsQuery)
        projects = visible_projects(request.user).order_by("slug")
        if not request.user.is_superuser:
            projects = projects.filter(memberships__user=request.user.pk, memberships__role__in=STAFF)
        by = [] if query.rows is UNSET else [query.rows]
        cubes = {of.slug: Cube(of, Compared(between=query.between)) for of in projects}
        return Response([ProjectAgreement(slug, cube.cells(query.measure, *by)) for slug, cube in cubes.items()])
