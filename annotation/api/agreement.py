"""Agreement of people on the first error."""

from datetime import date
from typing import Annotated
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.agreement.first_errors import (
    Agreement,
    agreement_by_day,
    agreement_by_member,
    first_error_agreement,
)


class AgreementOfDay(msgspec.Struct):
    """Pairs of labels on the solutions whose latest label is of this day."""

    day: Annotated[date, Meta(description="The day, in UTC.")]
    pairs: Annotated[Count, Meta(description="Pairs of people on one solution.")]
    exact: Annotated[Count, Meta(description="Pairs with the same first error, or both with none.")]
    within_one: Annotated[Count, Meta(description="Pairs with the same or a neighbouring first error.")]


class AgreementOfPerson(msgspec.Struct):
    """One annotator's agreement with others."""

    annotator: Annotated[UUID, Meta(description="The annotator's pseudonym.")]
    exact: Annotated[float, Meta(ge=0, le=1, description="Share of pairs with others with the same first error.")]


class AgreementReport(msgspec.Struct):
    """Agreement of people on the first error; machines, gold and adjudications are left out."""

    overall: Annotated[Agreement, Meta(description="Over all solutions.")]
    by_day: Annotated[list[AgreementOfDay], Meta(description="Earliest first.")]
    by_person: Annotated[list[AgreementOfPerson], Meta(description="By pseudonym.")]


class AgreementOfProject(APIView):
    """The agreement in a project."""

    @extend_schema(operation_id="get_agreement", responses=AgreementReport)
    def get(self, request: Request, slug: str) -> Response:
        """Agreement overall, by day and by person. Reviewers and managers only.

        `contrasts/` has the agreement between label sources.
        """
        project = find_project(request.user, slug, *STAFF)
        pseudonyms = dict(project.memberships.values_list("pk", "pseudonym"))
        people = [AgreementOfPerson(pseudonyms[pk], share) for pk, share in agreement_by_member(project).items()]
        return Response(
            AgreementReport(
                overall=first_error_agreement(project),
                by_day=[
                    AgreementOfDay(day, pairs.all, pairs.exact, pairs.within_one)
                    for day, pairs in agreement_by_day(project)
                ],
                by_person=sorted(people, key=lambda person: person.annotator),
            )
        )
