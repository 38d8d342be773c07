"""Gold solutions: the list, the answers to each, and ways to add more."""

import random
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.models import HIDDEN_LANES, Annotation, GoldAnswer, Membership, Project, choices
from annotation.work.gold.designation import (
    MOST_AT_ONCE,
    active_gold,
    hidden_gold,
    mark_gold,
    mark_references,
    references,
    retire_gold,
)
from annotation.work.gold.gold_answers import Wear, accuracy_by_gold, wear_of
from labelling_ui import words
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import STAFF, attempt, posted_word, project_action, project_page, whole_number
from labelling_ui.pages.columns import Column, Control, FirstError, Number, Opening, Share, State, When
from labelling_ui.pages.listing import Filters, Listing, respond
from prm.vocabulary import PEOPLE

KINDS = [
    ("adjudicated", _("adjudications")),
    ("staff", _("reviewers and managers")),
    ("human", _("people in a file")),
    ("consensus", _("consensus in a file")),
]

STATES = [
    ("hidden", _("hidden")),
    ("practice", _("for practice")),
    ("retired", _("retired")),
]


class GoldFilters(Filters):
    search = forms.CharField(label=_("Search the problem"), widget=forms.TextInput({"type": "search"}))
    domain = forms.CharField(label=_("Domain"))
    state = forms.ChoiceField(choices=[words.ALL, *STATES], label=_("State"))
    review = forms.BooleanField(label=_("worn out or suspect"))

    own = ("state", "review")
    lookups = {"search": "solution__problem__text__icontains", "domain": "solution__problem__domain"}

    def __init__(self, *args: Any, wear: dict[int, Wear]) -> None:
        super().__init__(*args)
        self.wear = wear

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.chosen()
        if "state" in chosen:
            rows = rows.filter(active=chosen["state"] != "retired")
        if chosen.get("state") in ("hidden", "practice"):
            rows = rows.filter(practice=chosen["state"] == "practice")
        if "review" in chosen:
            rows = rows.filter(solution__in=[pk for pk, worn in self.wear.items() if worn.to_review])
        return super().narrow(rows)


class MarkManyForm(forms.Form):
    """Which solutions to make gold, such as 40 of a domain with adjudicated labels."""

    domain = forms.CharField(required=False, label=_("Domain"), help_text=_("Leave empty for any."))
    split = forms.ChoiceField(choices=[words.ALL, *choices.SPLITS], required=False, label=_("Split"))
    kinds = forms.MultipleChoiceField(
        choices=KINDS, widget=forms.CheckboxSelectMultiple, label=_("Labels from"), initial=["adjudicated"]
    )
    most = forms.IntegerField(
        min_value=1,
        max_value=MOST_AT_ONCE,
        initial=40,
        label=_("Number of solutions"),
        help_text=_("Drawn at random if there are more."),
    )
    practice = forms.BooleanField(
        required=False, label=_("For practice only: open to all members with answers, never hidden in the queue")
    )


@project_page(*STAFF)
def gold(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    cached = CachedFigures(request, project)
    wear, answered = cached("gold", lambda: (wear_of(project), accuracy_by_gold(project)))
    counted = (
        Annotation.objects.filter(solution=OuterRef("solution"), lane__in=HIDDEN_LANES, revision=1)
        .order_by()
        .values("solution")
        .annotate(n=Count("pk"))
        .values("n")
    )
    rows = project.gold_answers.select_related(
        "solution__problem", "annotation__annotator__user", "annotation__source", "by"
    ).annotate(answers=Subquery(counted))
    listing = Listing(
        request, rows, _columns(wear, answered), sort="-marked", filters=GoldFilters(request.GET, wear=wear)
    )
    for row in listing.page.object_list:
        row.worn = wear.get(row.solution_id)
    context = {
        "form": MarkManyForm(),
        "active": hidden_gold(project).count(),
        "screening": project.policies.screening.items,
        "review": sum(worn.to_review for worn in wear.values()),
    }
    return respond(request, "labelling_ui/gold.html", listing, "gold", context)


@project_action(*STAFF)
def mark(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Make a solution gold by one of its labels."""
    label = get_object_or_404(member.project.annotations, pk=whole_number(request.POST.get("annotation")) or 0)
    accepted = _positions(request.POST.get("accepted", ""))
    if accepted is None:
        messages.error(request, gettext("Enter step numbers separated by commas, such as 3, 5, none."))
    else:
        attempt(
            request,
            gettext("The solution is gold now. It is no longer used to train or evaluate a model."),
            mark_gold,
            project=member.project,
            annotation_id=label.pk,
            accepted=accepted,
            practice=posted_word(request, "use", "practice", "hidden") == "practice",
            explanation=request.POST.get("explanation", ""),
        )
    return redirect("solution", member.project.slug, label.solution_id)


@project_action(*STAFF)
def mark_many(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Make solutions gold by labels that they already have."""
    form = MarkManyForm(request.POST)
    if not form.is_valid():
        for name, faults in form.errors.items():
            for fault in faults:
                messages.error(request, f"{form.fields[name].label}: {fault}")
        return redirect("gold", member.project.slug)
    data = form.cleaned_data
    narrowed = {"solution__problem__domain": data["domain"], "solution__split": data["split"]}
    narrowed = {name: value for name, value in narrowed.items() if value}
    candidates = list(references(member.project, kinds=data["kinds"], **narrowed))
    candidates = random.sample(candidates, min(data["most"], len(candidates)))
    marked = attempt(request, "", mark_references, project=member.project, chosen=candidates, practice=data["practice"])
    if marked:
        message = ngettext("%(n)s solution became gold.", "%(n)s solutions became gold.", marked) % {"n": marked}
        messages.success(request, message)
    elif marked == 0:
        messages.info(request, gettext("Every labelled solution is already gold."))
    return redirect("gold", member.project.slug)


@project_action(*STAFF)
def retire(request: HttpRequest, member: Membership, gold_id: int) -> HttpResponseBase:
    row = get_object_or_404(member.project.gold_answers, pk=gold_id)
    message = gettext("The solution is no longer gold. Answers on it no longer count.")
    attempt(request, message, retire_gold, gold=row, reason=request.POST.get("reason", ""))
    return redirect("gold", member.project.slug)


def gold_of(project: Project, solution_id: int) -> GoldAnswer | None:
    """The gold section of the solution page."""
    return active_gold(project).select_related("annotation", "by").filter(solution=solution_id).first()


def may_be_gold(label: Annotation) -> bool:
    """Whether to show a button that makes this label gold. The service checks again."""
    if label.first_error is None or label.lane in HIDDEN_LANES or label.source.kind not in PEOPLE:
        return False
    who = label.annotator
    return label.adjudicates or who is None or who.user_id is None or who.role in STAFF


def _columns(wear: dict[int, Wear], answered: dict[int, Any]) -> list[Column]:
    def right(row: GoldAnswer) -> float | None:
        entry = answered.get(row.solution_id)
        return entry.right.value if entry else None

    def seen(row: GoldAnswer) -> float | None:
        entry = wear.get(row.solution_id)
        return entry.seen.value if entry else None

    return [
        Column("solution", _("Solution"), "solution_id", sort=True, link="solution", heading=True),
        Opening("problem", _("Problem"), "solution__problem__text"),
        Column("domain", _("Domain"), "solution__problem__domain", sort=True),
        FirstError("first_error", _("First error"), "annotation__first_error", sort=True, term="first_error"),
        Number("answers", _("Answers"), lambda g: g.answers or 0, sort="answers"),
        Share("right", _("Right"), right, help=_("The share of annotators’ answers that match the known first error.")),
        Share(
            "seen_by",
            _("Seen by"),
            seen,
            help=_(
                "The share of annotators who have answered this gold solution; the more, the less it can still measure."
            ),
        ),
        When("marked", _("Marked"), "created_at", sort=True),
        State("state", _("State"), _state, sort="active", choices=STATES),
        Control("actions", _("Actions")),
    ]


def _state(row: GoldAnswer) -> str:
    if not row.active:
        return "retired"
    return "practice" if row.practice else "hidden"


def _positions(text: str) -> list[int] | None:
    """Positions from the step numbers that people see; None if the text is not a list of numbers."""
    parts = [part.strip().lower() for part in text.split(",") if part.strip()]
    if not all(part == "none" or (part.isdecimal() and len(part) < 10) for part in parts):
        return None
    return [-1 if part == "none" else int(part) - 1 for part in parts]
