"""Outcomes of solutions: the check of final answers against references, and test results from a file."""

from functools import partial

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.files.answer_checks import gradable, outcomes_of, start_answer_check
from annotation.files.code_outcomes import apply_results, kind_of
from annotation.models import AnswerCheck, Membership, OutcomeDisagreement, choices
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.columns import Choice, Column, Number
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.templatetags.figures import code
from labelling_ui.words import OUTCOMES


class CheckForm(forms.Form):
    overwrite = forms.BooleanField(
        required=False,
        label=_("Also replace outcomes from files and tests"),
        help_text=_("Otherwise these outcomes stay, and the page lists those that the grader disputes."),
    )


COLUMNS = [
    Column("solution", _("Solution"), "solution_id", sort="solution", link="solution", heading=True),
    Choice("was", _("Outcome"), lambda d: _outcome(d.was), sort="was", choices=OUTCOMES),
    Choice("source", _("From"), "was_source", sort=True, choices=choices.OUTCOME_SOURCES),
    Choice("graded", _("Grader"), lambda d: _outcome(d.graded), sort="graded", choices=OUTCOMES),
    Column("answer", _("Answer"), write=code),
    Column("reference", _("Reference"), "solution__problem__reference_answer", write=code),
]


def _outcome(correct: bool) -> str:
    return "correct" if correct else "wrong"


@project_page(*STAFF)
def answers(request: HttpRequest, member: Membership) -> HttpResponseBase:
    if request.method == "POST":
        return _start(request, slug=member.project.slug)
    check = AnswerCheck.objects.filter(project=member.project).first()
    disagreements = OutcomeDisagreement.objects.filter(check_run=check).select_related("solution__problem")
    listing = Listing(request, disagreements, COLUMNS, sort="solution")
    cached = CachedFigures(request, member.project)
    left = gradable(member.project).filter(final_answer_correct=None)
    context = {
        "job": check,
        "outcomes": cached("outcomes", partial(outcomes_of, member.project)),
        "left": cached("answers to check", left.count),
        "form": CheckForm(),
    }
    return respond(request, "labelling_ui/answers.html", listing, "answers", context)


@project_page(MANAGER)
def _start(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = CheckForm(request.POST)
    form.is_valid()
    attempt(request, "", start_answer_check, project=member.project, overwrite=form.cleaned_data["overwrite"])
    return redirect("answers", member.project.slug)


class ResultsForm(forms.Form):
    file = forms.FileField(
        label=_("Test results"),
        help_text=_("A JUnit report (.xml), or JSON Lines with id, passed and failed."),
    )


REFUSED = [
    Number("line", _("Line"), lambda result: result.line or None),
    Column("id", _("Id"), write=code),
    Column("reason", _("Reason"), write=in_words),
]


@project_page(MANAGER)
def test_results(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Show the form; after an upload, show what the results changed."""
    form = ResultsForm(request.POST if request.method == "POST" else None, request.FILES or None)
    applied = None
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        applied = attempt(
            request, "", apply_results, project=member.project, content=file.file, kind=kind_of(file.name)
        )
    refused = Table(applied.shown if applied else [], REFUSED)
    return render(request, "labelling_ui/test_results.html", {"form": form, "applied": applied, "refused": refused})
