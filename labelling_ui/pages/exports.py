"""Snapshots of the labels: created with filters and downloaded in training formats."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.api.downloads import download as streamed
from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.core.wording import in_words as in_reader_words
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import describe_filters as filter_phrases
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshot_export import content_type, deliver_snapshot, export_name
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Lane, Membership, Project, Snapshot, choices
from labelling_ui.pages.access import MANAGER, attempt, project_page, signed_in
from labelling_ui.pages.agreement_fields import FIELDS, AgreementFields
from labelling_ui.pages.columns import Column, Control, Number, When
from labelling_ui.pages.listing import Listing, respond
from labelling_ui.templatetags.figures import digest
from prm.exporters import EXPORTERS, RECORDS
from prm.vocabulary import SPLITS

HELD = [("left_out", _("left out")), ("included", _("included"))]
NAMES = {
    "splits": _("Splits"),
    "domains": _("Domains"),
    "text": _("Text in the problem or a step"),
    "policies": _("Policy model"),
    "visibilities": _("Visible reasoning"),
    "source_kinds": _("Labels by"),
    "annotators": _("Annotators"),
    "finish_reasons": _("Ended with"),
    "lanes": _("Lanes"),
    "generations": _("Generations"),
    "guidelines": _("Guidelines"),
    "hints": _("Labels made with the model's hints"),
    "submitted_from": _("From"),
    "submitted_to": _("Before"),
    "min_annotations": _("Minimum labels per solution"),
    "revisions": _("Earlier revisions"),
    "set_aside": _("Batches set aside"),
    "gold": _("Gold solutions"),
    "critiques": _("Critiques"),
    "consensus": _("Consensus by"),
    "min_posterior": _("Minimum posterior of the consensus"),
}
CHOICES: dict[str, Mapping[str, Any]] = {
    "splits": dict(choices.SPLITS),
    "visibilities": dict(choices.VISIBILITIES),
    "source_kinds": dict(choices.SOURCE_KINDS),
    "finish_reasons": dict(choices.FINISH_REASONS),
    "lanes": dict(Lane.choices),
    "revisions": {"latest": _("left out"), "all": _("included")},
    "set_aside": dict(HELD),
    "gold": dict(HELD),
    "critiques": dict(HELD),
    "hints": dict(HELD),
    "consensus": {"shares": _("shares"), "reliability": _("reliability")},
}
AGREEMENT = {
    ("agreeing", "first_error"): _("Agree on the first error"),
    ("agreeing", "within_one"): _("Agree on the first error, within one step"),
    ("agreeing", "presence"): _("Agree on whether there is an error"),
    ("differing", "first_error"): _("Differ on the first error"),
    ("differing", "within_one"): _("Differ on the first error, by more than one step"),
    ("differing", "presence"): _("Differ on whether there is an error"),
}


def _several(name: str) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        choices=list(CHOICES[name].items()), required=False, widget=forms.CheckboxSelectMultiple, label=NAMES[name]
    )


class SnapshotForm(AgreementFields):
    """The filters of a snapshot. An empty form means all labels."""

    field_order = (
        "splits", "source_kinds", "finish_reasons", "lanes", "generations", "hints", "submitted_from", "submitted_to",
    )  # fmt: skip
    splits = _several("splits")
    source_kinds = _several("source_kinds")
    finish_reasons = _several("finish_reasons")
    lanes = _several("lanes")
    generations = forms.TypedMultipleChoiceField(
        coerce=int, required=False, widget=forms.CheckboxSelectMultiple, label=NAMES["generations"]
    )
    hints = forms.ChoiceField(
        choices=[("", _("included")), ("left_out", _("left out"))],
        required=False,
        label=NAMES["hints"],
    )
    submitted_from = forms.DateField(
        required=False, label=NAMES["submitted_from"], widget=forms.DateInput({"type": "date"})
    )
    submitted_to = forms.DateField(
        required=False,
        label=NAMES["submitted_to"],
        widget=forms.DateInput({"type": "date"}),
        help_text=_("Days are in UTC."),
    )

    def __init__(self, *args: Any, project: Project, **named: Any) -> None:
        super().__init__(*args, **named)
        numbers = project.generations.order_by("number").values_list("number", flat=True)
        generations: forms.TypedMultipleChoiceField = self.fields["generations"]  # type: ignore[assignment]
        generations.choices = [(n, str(n)) for n in numbers]

    def filters(self) -> dict[str, Any]:
        """The filters as `create_snapshot` expects them."""
        chosen = {name: value for name, value in self.cleaned_data.items() if value and name not in FIELDS}
        if rule := self.agreement():
            chosen["agreement"] = rule
        for name in ("submitted_from", "submitted_to"):
            if name in chosen:
                chosen[name] = chosen[name].isoformat()
        return chosen


COLUMNS = [
    When("made", _("Created"), "created_at", sort=True),
    Column("sha256", _("Content"), write=digest, term="snapshot"),
    Column(
        "asked_for",
        _("Filters"),
        lambda s: "; ".join(filter_phrases(s.filters)) or "everything",
        shown=lambda s: describe_filters(s.filters),
    ),
    Number("solutions", _("Solutions"), "counts__solutions"),
    Number("labels", _("Labels"), "counts__annotations"),
    Control("download", _("Download"), hidden=False),
]


@project_page(MANAGER)
def export(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = SnapshotForm(request.POST if request.method == "POST" else None, project=member.project)
    if request.method == "POST" and form.is_valid():
        done = gettext("Snapshot created. Later changes to labels do not affect it.")
        attempt(request, done, create_snapshot, project=member.project, filters=form.filters())
        return redirect("export", member.project.slug)
    listing = Listing(request, member.project.snapshots.select_related("created_by"), COLUMNS, sort="-made")
    for snapshot in listing.page.object_list:
        snapshot.files = _files(snapshot, member.project.policies.neutral)
    context = {"form": form, "labels": member.project.annotations.exists()}
    return respond(request, "labelling_ui/export.html", listing, "snapshots", context)


def _files(snapshot: Snapshot, neutral: str) -> list[dict[str, Any]]:
    """The contents and omissions of a download in each format; for TRL also the file with every split, if different."""
    files = []
    for format in EXPORTERS:
        if format == RECORDS:  # for another Stepmark, through the API
            continue
        plan = plan_export(snapshot, format, neutral=neutral)
        every = plan_export(snapshot, format, neutral=neutral, splits=SPLITS)
        files.append(
            {
                "format": format,
                "label": in_reader_words(EXPORTERS.get(format).title),
                "plan": plan,
                "lost": plan.sentences(),
                "every": every if every.splits != plan.splits and not every.refusal else None,
            }
        )
    return files


@project_page(MANAGER)
def download(request: HttpRequest, member: Membership, snapshot_id: int, format: str) -> HttpResponseBase:
    """Stream the snapshot in a format, or show on the page why it cannot be written."""
    snapshot = _find(member.project, snapshot_id)
    if format not in EXPORTERS:
        raise Http404("There is no such format.")
    splits = [split for split in request.GET.getlist("splits") if split in SPLITS]
    mixed_kinds = request.GET.get("mixed_kinds", "refuse")
    try:
        content = deliver_snapshot(
            by=signed_in(request),
            snapshot=snapshot,
            format=format,
            via="page",
            neutral=member.project.policies.neutral,
            splits=splits,
            mixed_kinds=mixed_kinds,
        )
    except (Forbidden, Missing):
        raise
    except DomainError as error:
        messages.error(request, in_reader_words(error.message))
        return redirect("export", member.project.slug)
    return streamed(content, name=export_name(snapshot, format), content_type=content_type(format))


@project_page(MANAGER)
def card(request: HttpRequest, member: Membership, snapshot_id: int) -> HttpResponseBase:
    snapshot = _find(member.project, snapshot_id)
    text = dataset_card(snapshot, neutral=member.project.policies.neutral)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'inline; filename="{snapshot.sha256[:12]}-README.md"'
    return response


def _find(project: Project, snapshot_id: int) -> Snapshot:
    return get_object_or_404(project.snapshots, pk=snapshot_id)


def describe_filters(filters: Mapping[str, Any]) -> str:
    """Stored filters in the reader's language, in the form's order, since JSON columns keep none."""
    phrases = [f"{label}: {_value(name, filters[name])}" for name, label in NAMES.items() if name in filters]
    if rule := filters.get("agreement"):
        phrases.append(_agreement(rule))
    return "; ".join(phrases) or gettext("everything")


def _value(name: str, value: Any) -> str:
    if name.startswith("submitted_"):
        return _moment(value)
    named = CHOICES.get(name, {})
    items = value if isinstance(value, list) else [value]
    return ", ".join(str(named.get(item, item)) for item in items)


def _moment(text: str) -> str:
    """A time in UTC; midnight is shown as the day alone."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    day = date_format(moment.date(), "DATE_FORMAT")
    return day if moment.time() == moment.min.time() else f"{day}, {moment:%H:%M} UTC"


def _agreement(rule: Mapping[str, Any]) -> str:
    """Each source is a kind, or one source of a kind, "model_judge:name"."""
    kinds = dict(choices.SOURCE_KINDS)
    sources = (source.partition(":") for source in rule["sources"])
    named = ", ".join(f"{kinds.get(kind, kind)}{sign}{name}" for kind, sign, name in sources)
    return f"{AGREEMENT[rule.get('keep', 'agreeing'), rule.get('on', 'first_error')]}: {named}"
