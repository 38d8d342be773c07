"""The caller's own work: amount, time, accuracy on gold, agreement with others, and labels sent back."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import find_project, require_role
from annotation.labels.annotators.own_work import OwnFigures, own_work


class MyWork(APIView):
    """The caller's own work."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="my_work", request=None, responses=OwnFigures)
    def get(self, request: Request, slug: str) -> Response:
        """The caller's labels in the project, their time, accuracy on gold and agreement with others."""
        return Response(own_work(require_role(request.user, find_project(request.user, slug))))
