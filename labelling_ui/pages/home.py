"""The projects of the signed-in person, and the form for a new one."""

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import DomainError
from annotation.core.membership.access import may_create_projects, visible_projects
from annotation.core.membership.projects import create_project
from annotation.core.wording import in_words
from annotation.models import Generation, Membership, Project, QueueItem
from labelling_ui.pages.access import signed_in


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


class NewProjectForm(forms.Form):
    name = forms.CharField(max_length=200, label=_("Name"))
    slug = forms.CharField(
        max_length=80,
        required=False,
        label=_("Address"),
        help_text=_("Letters, digits and hyphens; made from the name if you leave it empty."),
    )
    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea,
        label=_("Guidelines"),
        help_text=_("Markdown, shown beside the work. You can write them later."),
    )


@login_required
def create(request: HttpRequest) -> HttpResponse:
    if not may_create_projects(request.user):
        raise PermissionDenied(gettext("Only managers and staff can create projects. Ask one of them."))
    form = NewProjectForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        data["slug"] = data["slug"] or slugify(data["name"])[:80]
        try:
            project = create_project(by=signed_in(request), **data)
        except DomainError as error:
            form.add_error(error.extra.get("field"), in_words(error.message))
        else:
            return redirect("project", project.slug)
    return render(request, "labelling_ui/project_create.html", {"form": form})
