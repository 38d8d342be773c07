"""The division of labour: accuracy and cost of each route."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import STAFF, find_project
from annotation.labels.labour.route_figures import RouteFigures, figures_by_domain, figures_by_route


class DivisionOfLabour(APIView):
    """Accuracy and cost of people, judges and both."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="divide_labour", responses=list[RouteFigures])
    def get(self, request: Request, slug: str) -> Response:
        """Each route, in all (`domain` is null) and then by domain. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response(figures_by_route(project) + figures_by_domain(project))
