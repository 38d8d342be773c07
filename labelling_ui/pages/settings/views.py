"""What a project decides, page by page: its name and guidelines, its label scheme, its policies."""

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.core.errors import DomainError, Forbidden
from annotation.core.membership.projects import change_project
from annotation.models import Membership, Project
from labelling_ui.pages.access import MANAGER, attempt, project_page, signed_in
from labelling_ui.pages.settings.page import FIRST, PAGES, SettingsPage


@project_page(MANAGER)
@transaction.atomic
def settings(request: HttpRequest, member: Membership, name: str = FIRST) -> HttpResponseBase:
    kind = next((kind for kind in PAGES if kind.name == name), None)
    if kind is None:
        raise Http404(_("The settings have no such page."))
    saves = request.method == "POST"
    project = _locked(member.project) if saves else member.project
    page = SettingsPage(kind, project, request.POST if saves else None)
    if page.sent is not None and page.is_valid():
        try:
            change_project(by=signed_in(request), project=project, **page.changes())
        except Forbidden:
            raise
        except DomainError as error:
            page.blame(error)
        else:
            messages.success(request, _("Saved. The queue keeps what it holds; the next generation follows these."))
            return redirect("settings-page", project.slug, name)
    context = {"member": member, "tab": "settings", "page": page, "pages": PAGES}
    return render(request, "labelling_ui/settings.html", context)


def _locked(project: Project) -> Project:
    """The project as it is now and stays until this page is saved: another page of it may be saved in this moment."""
    return Project.objects.select_for_update(no_key=True).get(pk=project.pk)


@require_POST
@project_page(MANAGER)
def set_state(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Pause or resume."""
    paused = request.POST.get("state") == Project.State.PAUSED
    told = _("Paused: nobody gets new work until you resume.") if paused else _("People can label again.")
    attempt(request, told, change_project, project=member.project, state=request.POST.get("state", ""))
    return redirect("settings", member.project.slug)
