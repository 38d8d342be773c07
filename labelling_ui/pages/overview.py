"""The project page: how far, how good, how sure, what it costs, and what needs a person."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.models import Membership
from labelling_ui.pages.access import ANYONE, project_page


@project_page(*ANYONE)
def overview(request: HttpRequest, member: Membership) -> HttpResponse:
    return render(request, "labelling_ui/overview.html", {"member": member})
