"""The glossary."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from labelling_ui.glossary import terms_by_name
from labelling_ui.pages.access import login_required


@login_required
def glossary(request: HttpRequest) -> HttpResponse:
    return render(request, "labelling_ui/glossary.html", {"terms": terms_by_name()})
