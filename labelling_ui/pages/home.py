"""The projects of the signed-in person."""

from django.db.models import IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.core.membership.access import may_create_projects, visible_projects
from annotation.models import Generation, Membership, Project, QueueItem
from labelling_ui.pages.access import login_required, signed_in


@login_required
def home(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "labelling_ui/home.html",
        {"projects": _with_progress(request), "may_create": may_create_projects(request.user)},
    )


def _with_progress(request: HttpRequest) -> QuerySet[Project]:
    # of the open generation: what was wanted and what is done
    open_items = (
        QueueItem.objects.filter(project=OuterRef("pk"), generation__state=Generation.State.OPEN)
        .order_by()
        .values("project")
    )
    role = Membership.objects.filter(project=OuterRef("pk"), user=signed_in(request), active=True).values("role")
    return (
        visible_projects(request.user)
        .annotate(
            role=Subquery(role),
            wanted=Subquery(open_items.annotate(n=Sum("wanted")).values("n"), output_field=IntegerField()),
            done=Subquery(open_items.annotate(n=Sum("done")).values("n"), output_field=IntegerField()),
        )
        .order_by("name")
    )
