"""Every label of a project as a list; an annotator sees their own, and never the lane."""

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy as _

from annotation.labels.annotators.batches import is_set_aside
from annotation.labels.list_filters import LabelFilter, OwnLabelFilter
from annotation.models import Annotation, LabelBatch, Lane, Membership, Route, choices
from annotation.work.annotations import current_annotations
from labelling_ui import words
from labelling_ui.pages.access import ANYONE, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, FirstError, Number, Opening, When
from labelling_ui.pages.gold import may_be_gold
from labelling_ui.pages.listing import Listing, SharedFilters, respond
from labelling_ui.pages.people import PersonField, everyone_in

BY = [("members", _("members")), ("others", _("files and estimates"))]
HINTED = [("shown", _("shown")), ("blind", _("withheld (blind arm)"))]


class OwnLabelFilters(SharedFilters):
    kind = OwnLabelFilter
    finish_reason = forms.MultipleChoiceField(
        choices=choices.FINISH_REASONS, label=_("Ended with"), widget=forms.CheckboxSelectMultiple
    )
    since = forms.DateField(label=_("Since"), widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(label=_("Until"), widget=forms.DateInput({"type": "date"}))


class LabelFilters(OwnLabelFilters):
    kind = LabelFilter
    annotator = PersonField(
        Membership.objects.none(), to_field_name="pseudonym", empty_label=_("all"), label=_("Annotator")
    )
    # Django moves a form's fields out of its class.
    by = forms.ChoiceField(choices=[words.ALL, *BY], label=_("Labels by"))  # type: ignore[assignment]
    source = forms.ChoiceField(choices=[words.ALL, *choices.SOURCE_KINDS], label=_("Source"))
    generation = forms.IntegerField(min_value=0, label=_("Generation"))
    hint = forms.ChoiceField(choices=[words.ALL, *HINTED], label=_("Model’s scores"))
    batch = forms.ModelChoiceField(LabelBatch.objects.none(), widget=forms.HiddenInput)
    route = forms.ChoiceField(choices=[words.ALL, *Route.choices], label=_("Route"))

    field_order = (
        "annotator",
        "by",
        "source",
        "lane",
        "route",
        "generation",
        "hint",
        "since",
        "until",
        "finish_reason",
    )


def _who(label: Annotation) -> str:
    return label.annotator.shown_name if label.annotator else f"{label.source.kind} {label.source.name}"


OWN_COLUMNS = [
    When("submitted", _("Submitted"), "submitted_at", sort=True),
    Opening("problem", _("Problem"), "solution__problem__text"),
    Choice("ended_with", _("Ended with"), "finish_reason", sort=True, choices=choices.FINISH_REASONS),
    FirstError("first_error", _("First error"), sort=True, term="first_error"),
    Duration("seconds", _("Time"), lambda a: a.total_ms and a.total_ms / 1000, sort="total_ms"),
]
COLUMNS = [
    *OWN_COLUMNS[:2],
    Number("solution", _("Solution"), "solution_id", sort=True, link="solution", write=str),
    Column("annotator", _("By"), _who, sort="annotator__user__username"),
    Choice("lane", _("Lane"), sort=True, choices=Lane.choices, filtered=True, term="lane"),
    *OWN_COLUMNS[2:],
    Choice(
        "set_aside",
        _("State"),
        lambda label: LabelBatch.State.SET_ASIDE if label.set_aside else "",
        choices=LabelBatch.State.choices,
        help=_("A model does not learn from a label that is set aside."),
    ),
]


@project_page(*ANYONE)
def labels(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project, rows = member.project, current_annotations(member.project)
    filters: SharedFilters
    if member.role == Membership.Role.ANNOTATOR:
        rows = rows.filter(annotator=member)
        filters, columns = OwnLabelFilters(request.GET, project), OWN_COLUMNS
    else:
        batches, people = project.label_batches.all(), everyone_in(project)
        filters, columns = LabelFilters(request.GET, project, COLUMNS, annotator=people, batch=batches), COLUMNS
        rows = rows.annotate(set_aside=is_set_aside())
    rows = rows.select_related("solution__problem", "annotator__user", "source", "item__generation")
    listing = Listing(request, rows, columns, sort="-submitted", filters=filters)
    for label in listing.page.object_list:
        label.may_be_gold = columns is COLUMNS and may_be_gold(label)
    return respond(request, "labelling_ui/labels.html", listing, "labels", {"all": columns is COLUMNS})
