"""What an agreement rule between sources discards."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row, read_query
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.agreement.agreement_discards import Grouping, count_discards, filter_solutions
from annotation.models.agreement_rule import AgreementRule


class DiscardGroup(Row):
    by: Annotated[Grouping, about("What the group has in common.")]
    value: Annotated[str, about("Its value: of `error`, whether a source reports one.")]
    kept: Annotated[Count, about("Solutions that the rule keeps.")]
    dropped: Annotated[Count, about("Solutions dropped for what the sources say.")]
    silent: Annotated[Count, about("Solutions dropped because a source has no label.")]
    share: Annotated[float, about("Share of the group that is dropped.")]


class DiscardReport(msgspec.Struct):
    groups: Annotated[list[DiscardGroup], about("The counts of each group.")]
    solutions: Annotated[list[Id], about("Ids of the dropped solutions.")]


class AgreementFilter(APIView):
    """The solutions that a rule on the agreement of sources would keep and drop."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="preview_agreement_filter", parameters=query_of(AgreementRule), responses=DiscardReport)
    def get(self, request: Request, slug: str) -> Response:
        """What a rule drops, by reported error, verdicts, domain and length. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        filtered = list(filter_solutions(project, read_query(request, AgreementRule)))
        groups = [DiscardGroup.of(group) for group in count_discards(iter(filtered))]
        return Response(DiscardReport(groups, [one.solution for one in filtered if not one.kept]))
