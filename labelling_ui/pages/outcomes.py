"""Outcomes of code from a file of test results."""

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from annotation.core.wording import in_words
from annotation.files.code_outcomes import apply_results, kind_of
from annotation.models import Membership
from labelling_ui.pages.access import MANAGER, attempt, project_page
from labelling_ui.pages.columns import Column, Number
from labelling_ui.pages.listing import Table
from labelling_ui.templatetags.figures import code


class ResultsForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("Test results"),
        help_text=gettext_lazy("A JUnit report (.xml), or JSON Lines of id, passed and failed."),
    )


REFUSED = [
    Number("line", gettext_lazy("Line"), lambda result: result.line or None),
    Column("id", gettext_lazy("Id"), write=code),
    Column("reason", gettext_lazy("Reason"), write=in_words),
]


@project_page(MANAGER)
def test_results(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """The form, and behind an upload what the results changed."""
    form = ResultsForm(request.POST if request.method == "POST" else None, request.FILES or None)
    applied = None
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        applied = attempt(
            request, "", apply_results, project=member.project, content=file.file, kind=kind_of(file.name)
        )
    refused = Table(applied.shown if applied else [], REFUSED)
    context = {"member": member, "tab": "import", "form": form, "applied": applied, "refused": refused}
    return render(request, "labelling_ui/test_results.html", context)
