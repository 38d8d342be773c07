"""How far labels can be trusted: batches that stand out, and each annotator's reliability."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.annotators import batches
from annotation.labels.consensus.fits import latest_fit
from annotation.labels.list_filters import BatchFilter
from annotation.models import LabelBatch, LabelSource, Membership, Project
from annotation.work.gold.gold_accuracy import Accuracy
from annotation.work.gold.gold_answers import accuracy_by_person
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import MANAGER, STAFF, attempt, posted_word, project_action, project_page
from labelling_ui.pages.columns import Choice, Column, Number, State, When
from labelling_ui.pages.listing import Listing, SharedFilters, Table, respond
from labelling_ui.pages.people import (
    FITTED,
    ON_GOLD,
    PERSON,
    Figures,
    PersonField,
    everyone_in,
    fitted_annotators,
    source_named,
)


class SetAsideForm(forms.Form):
    """Which labels of one annotator to set aside without an alarm."""

    annotator = PersonField(Membership.objects.none(), label=_("Annotator"))
    since = forms.DateTimeField(label=_("From"), widget=forms.DateTimeInput({"type": "datetime-local"}))
    until = forms.DateTimeField(label=_("To"), widget=forms.DateTimeInput({"type": "datetime-local"}))
    reason = forms.CharField(max_length=500, label=_("Reason"))

    def __init__(self, *args: Any, project: Project, **named: Any) -> None:
        super().__init__(*args, **named)
        annotator: forms.ModelChoiceField = self.fields["annotator"]  # type: ignore[assignment]
        annotator.queryset = everyone_in(project)


class BatchFilters(SharedFilters):
    kind = BatchFilter


Members = dict[int, Membership]  # by id, with the user

COLUMNS = [
    When("found", _("Found"), "found_at", sort=True),
    Column("by", _("Labels by"), lambda b: owner_of(b), sort="annotator__user__username"),
    When("since", _("From"), sort=True),
    When("until", _("To"), sort=True),
    Choice("judged_by", _("Compared with"), "judge", sort=True, choices=LabelBatch.Judge.choices),
    Number("judged", _("Compared"), "evidence__judged", help=_("Labels in the batch that could be compared.")),
    Number("differed", _("Different"), "evidence__differed", help=_("Compared labels that differ from the judge’s.")),
    Number(
        "expected",
        _("Expected"),
        "evidence__expected",
        help=_("How many would differ if this batch were like the earlier ones."),
    ),
    State("state", _("State"), sort=True, choices=LabelBatch.State.choices, filtered=True),
]


@project_page(*STAFF)
def quality(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    rows = project.label_batches.select_related("annotator__user", "source", "decided_by")
    listing = Listing(request, rows, COLUMNS, sort="-found", filters=BatchFilters(request.GET, project, COLUMNS))
    members = {one.pk: one for one in project.memberships.select_related("user")}
    fit = latest_fit(project)
    show_batches(list(listing), names_of(project, members))
    cached = CachedFigures(request, project)
    context = {
        "fit": fit,
        "people": Table(fitted_annotators(project, fit.report.annotators) if fit and fit.report else [], FITTED),
        "gold": Table(_on_gold(cached("accuracy", partial(accuracy_by_person, project)), members), [PERSON, *ON_GOLD]),
        "form": SetAsideForm(project=project),
        "between": project.policies.quality.labels_between_false_alarms,
    }
    return respond(request, "labelling_ui/quality.html", listing, "batches", context)


@project_action(MANAGER)
def decide(request: HttpRequest, member: Membership, batch_id: int) -> HttpResponseBase:
    """Set a batch aside, or count it."""
    batch = get_object_or_404(member.project.label_batches, pk=batch_id)
    reason = request.POST.get("reason", "")
    if posted_word(request, "decision", "set_aside", "resume") == "set_aside":
        done = gettext(
            "Set aside. The next round trains without these labels, and their solutions can be queued again."
        )
        attempt(request, done, batches.set_aside, batch=batch, reason=reason)
    else:
        attempt(request, gettext("These labels are used again."), batches.resume, batch=batch, reason=reason)
    return redirect("quality", member.project.slug)


@project_action(MANAGER)
def set_aside(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Set labels aside without an alarm."""
    form = SetAsideForm(request.POST, project=member.project)
    if not form.is_valid():
        messages.error(request, gettext("Choose an annotator, a period and a reason."))
        return redirect("quality", member.project.slug)
    attempt(request, gettext("Set aside."), batches.set_aside_by_hand, project=member.project, **form.cleaned_data)
    return redirect("quality", member.project.slug)


def owner_of(batch: LabelBatch) -> str:
    """The annotator whose labels a batch holds."""
    if batch.annotator:
        return batch.annotator.shown_name
    return source_named(batch.source) if batch.source else ""


def _on_gold(accuracies: Mapping[int, Accuracy], members: Members) -> list[Figures]:
    """Each annotator's accuracy on hidden gold, lowest first."""
    figures = [Figures(members[who], accuracy) for who, accuracy in accuracies.items() if who in members]
    return sorted(figures, key=lambda row: (row.figures.right.value or 0, row.who.shown_name))


def show_batches(shown: Sequence[Any], names: Mapping[str, str]) -> None:
    """Give each batch the name of its `owner`, its number of `labels`, and whose labels they equal (`original`)."""
    labels = batches.count_labels(shown)
    for batch in shown:
        batch.owner, batch.labels = owner_of(batch), labels[batch.pk]
        batch.original = names.get(batch.evidence.get("original", ""), "")


def names_of(project: Project, members: Members) -> dict[str, str]:
    """The name of each annotator and source, by `judged_labels.name_of`."""
    names = {f"annotator {pk}": one.shown_name for pk, one in members.items()}
    return names | {f"source {s.pk}": source_named(s) for s in LabelSource.objects.filter(project=project)}
