"""The audit log of a project: who did what to what, with the state before and after."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from operator import attrgetter
from typing import Any, NamedTuple

from django import forms
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.api.audit_entries import PLATFORM, AuditFilter
from annotation.core.wording import in_words, message_of
from annotation.models import AuditEntry, Job, Membership, Project
from labelling_ui.pages.access import MANAGER, project_page
from labelling_ui.pages.columns import Choice, Column, When
from labelling_ui.pages.jobs import KINDS
from labelling_ui.pages.listing import Listing, SharedFilters, respond
from labelling_ui.selectors import model_versions
from labelling_ui.words import ALL

Words = Any  # a text that is translated when it is shown

ADDED, CHANGED, CREATED, DELETED, STARTED = _("added"), _("changed"), _("created"), _("deleted"), _("started")
OF_A_JOB = {
    "cancel": _("cancellation requested"),
    "resume": _("resumed"),
    "done": _("finished"),
    "failed": _("failed"),
    "cancelled": _("cancelled"),
}
# By the first part of an action: what it is about, and what happened by the last part. Those of models are below.
SUBJECTS: dict[str, tuple[Words, dict[str, Words]]] = {
    "account": (_("Account"), {"open": CREATED}),
    "annotation": (pgettext_lazy("noun", "Label"), {"submit": _("submitted"), "adjudicate": _("decided in review")}),
    "answers": (_("Answer check"), {"check": STARTED, **OF_A_JOB}),
    "dispute": (_("Dispute"), {"open": _("opened"), "revise": CHANGED, "resolve": _("decided")}),
    "export": (_("Export"), {"request": _("requested"), **OF_A_JOB}),
    "export_schedule": (_("Export schedule"), {"create": CREATED, "change": CHANGED, "delete": DELETED}),
    "fit": (_("Consensus fit"), {"start": STARTED, **OF_A_JOB}),
    "generation": (_("Generation"), {"open": _("opened")}),
    "gold": (_("Gold"), {"mark": _("marked"), "retire": _("retired")}),
    "import": (_("Import"), {"start": STARTED, **OF_A_JOB}),
    "judging": (_("Judging"), {"start": STARTED, **OF_A_JOB}),
    "labels": (
        _("Labels"),
        {"suspect": _("suspected"), "set_aside": _("set aside"), "resume": _("used again")},
    ),
    "lease": (
        _("Lease"),
        {"claim": STARTED, "renew": _("renewed"), "release": _("released"), "expire": _("expired")},
    ),
    "machine": (_("Machine annotator"), {"add": ADDED, "change": CHANGED}),
    "member": (
        _("Member"),
        {
            "add": ADDED,
            "change_role": _("role changed"),
            "qualify": _("domains changed"),
            "remove": _("removed"),
            "screen": _("screening decided"),
        },
    ),
    "outcomes": (_("Final answers"), {"grade": _("graded"), "tests": _("set by test results")}),
    "overlap": (_("Contamination check"), {"start": STARTED, **OF_A_JOB}),
    "practice": (_("Practice"), {"answer": _("answered")}),
    "problem": (_("Problem"), {"correct_reference": _("reference corrected")}),
    "project": (
        _("Project"),
        {
            "create": CREATED,
            "change": CHANGED,
            "move": _("moved in from another tool"),
            "delete_refused": _("deletion refused"),
        },
    ),
    "queue": (
        _("Queue item"),
        {
            "add": ADDED,
            "move": _("moved"),
            "open": _("opened to everyone"),
            "pin": _("pinned"),
            "unpin": _("unpinned"),
            "pause": _("paused"),
            "resume": _("resumed"),
            "hand": _("assigned to a person"),
            "hand_over": _("handed over to a person"),
            "replace_items": _("replaced"),
        },
    ),
    "records": (_("Records"), {"import": _("imported")}),
    "run": (_("Run"), {"request": _("requested"), "prune": _("log shortened"), **OF_A_JOB}),
    "sampling": (_("Sampling"), {"start": STARTED, **OF_A_JOB}),
    "sent_back": (
        _("Request to revise"),
        {"open": _("opened"), "answer": _("answered"), "take_back": _("taken back")},
    ),
    "simulation": (_("Simulation"), {"start": STARTED, **OF_A_JOB}),
    "snapshot": (_("Snapshot"), {"create": CREATED, "changed": _("file changed"), "export": _("exported")}),
    "solutions": (_("Solutions"), {"post": _("added through the API")}),
    "token": (_("Token"), {"issue": CREATED, "limit": _("limits changed"), "revoke": _("revoked")}),
    "upload": (_("Upload"), {"begin": STARTED, "discard": _("discarded")}),
    "webhook": (
        _("Webhook"),
        {
            "create": CREATED,
            "change": CHANGED,
            "delete": DELETED,
            "disable": _("disabled"),
            "replace_secret": _("secret replaced"),
        },
    ),
}


def _in_words(subject: Words, what: Words) -> str:
    return gettext("%(subject)s: %(what)s") % {"subject": subject, "what": what}


_WORDS = lazy(_in_words, str)
ACTIONS = {
    **{
        f"{name}.{verb}": _WORDS(subject, what)
        for name, (subject, verbs) in SUBJECTS.items()
        for verb, what in verbs.items()
    },
    **{action: _WORDS(_("Model"), what) for action, what in model_versions.ACTIONS.items()},
}


class Target(NamedTuple):
    """What entries are about: its name, and its page with the path of the address's part; `shown` names one row."""

    label: Words
    page: str = ""
    part: str = ""
    shown: str = ""
    related: tuple[str, ...] = ()


# By the name of the model.
TARGETS = {
    "annotation": Target(pgettext_lazy("noun", "Label"), "solution", "solution_id"),
    "apitoken": Target(_("Token"), shown="name"),
    "dispute": Target(_("Dispute"), "solution", "annotation.solution_id", related=("annotation",)),
    "exportschedule": Target(_("Export schedule"), "export-schedules", shown="name"),
    "generation": Target(_("Generation"), "generation", "number", "number"),
    "goldanswer": Target(_("Gold"), "solution", "solution_id"),
    "labelbatch": Target(_("Labels"), "quality"),
    "lease": Target(_("Lease"), "solution", "solution_id"),
    "machineannotator": Target(_("Machine annotator"), "machine", "membership_id"),
    "membership": Target(_("Member"), "member", "pk", "shown_name", related=("user",)),
    "modelversion": Target(_("Model"), "model", "number", "number"),
    "practiceanswer": Target(_("Practice"), "solution", "gold.solution_id", related=("gold",)),
    "problem": Target(_("Problem")),
    "project": Target(_("Project"), "settings"),
    "queueitem": Target(_("Queue item"), "solution", "solution_id"),
    "sentback": Target(_("Request to revise"), "solution", "annotation.solution_id", related=("annotation",)),
    "snapshot": Target(_("Snapshot"), "snapshot", "pk"),
    "upload": Target(_("Upload")),
    "user": Target(_("Account"), shown="username"),
    "webhook": Target(_("Webhook"), "webhook", "pk"),
    **{model._meta.model_name: Target(KINDS[kind].label, related=("project",)) for kind, model in Job.kinds().items()},
}


def changes_of(entry: AuditEntry) -> Iterator[tuple[str, str]]:
    """The fields of an entry, each with its value before and after. Of objects, only the parts that changed."""
    before, after = dict(_parts(entry.before)), dict(_parts(entry.after))
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in before:
            yield name, after[name]
        elif "." not in name or before[name] != after.get(name):
            yield name, f"{before[name]} → {after.get(name, '')}".strip()


def _parts(state: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """The values of a state as text, by their path."""
    for name, value in state.items():
        if isinstance(value, dict) and value:
            if within or name != "messages":
                yield from _parts(value, f"{within}{name}.")
        elif isinstance(value, str):
            yield within + name, value if within else in_words(message_of(state, name))
        else:
            yield within + name, json.dumps(value, ensure_ascii=False)


class _Changes(Column):
    """The fields of an entry, folded on the page."""

    def html(self, row: Any, slug: str = "") -> SafeString:
        changes = list(changes_of(row))
        if not changes:
            return super().html(row, slug)
        fields = ngettext("%(n)s field", "%(n)s fields", len(changes)) % {"n": len(changes)}
        lines = format_html_join(" ", "<li><b>{}</b>: {}</li>", changes)
        return format_html('<details><summary>{}</summary><ul class="plain">{}</ul></details>', fields, lines)


def _actions() -> list[tuple[str, Words]]:
    return [ALL, *sorted(ACTIONS.items(), key=lambda one: str(one[1]).casefold())]


class AuditFilters(SharedFilters):
    kind = AuditFilter
    by = forms.ChoiceField(label=_("By"))  # type: ignore[assignment]  # Django moves a form's fields out of its class
    action = forms.ChoiceField(choices=_actions, label=_("Action"))
    since = forms.DateField(label=_("Since"), widget=forms.DateInput({"type": "date"}))
    until = forms.DateField(label=_("Until"), widget=forms.DateInput({"type": "date"}))

    def __init__(self, data: QueryDict, project: Project) -> None:
        super().__init__(data, project, COLUMNS)
        people = _actors(project).values_list("username", "username")
        self.fields["by"].choices = [ALL, (PLATFORM, "Stepmark"), *people]  # type: ignore[attr-defined]

    def clean_since(self) -> datetime | None:
        return _moment(self.cleaned_data["since"], time.min)

    def clean_until(self) -> datetime | None:
        return _moment(self.cleaned_data["until"], time.max)


def _moment(day: date | None, at: time) -> datetime | None:
    return None if day is None else timezone.make_aware(datetime.combine(day, at))


COLUMNS = [
    When("at", _("Time"), sort=True),
    Column("by", _("By"), "by__username", shown=lambda row: row.by.username if row.by else "Stepmark"),
    Choice("action", _("Action"), choices=[*ACTIONS.items()], heading=True),
    Choice("target_type", _("Target"), choices=[(name, target.label) for name, target in TARGETS.items()]),
    Column("target_id", _("Id")),
    _Changes("changes", _("Before and after"), lambda row: "\n".join(": ".join(one) for one in changes_of(row))),
]


@project_page(MANAGER)
def audit_log(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.audit_entries.select_related("by")
    filters = AuditFilters(request.GET, member.project)
    listing = Listing(request, rows, COLUMNS, sort="-at", filters=filters)
    add_targets(list(listing), member.project.slug)
    return respond(request, "labelling_ui/audit_log.html", listing, "audit")


def _actors(project: Project) -> QuerySet[User]:
    """Who may have changed something: the members, and superusers."""
    return User.objects.filter(Q(memberships__project=project) | Q(is_superuser=True)).distinct().order_by("username")


def add_targets(entries: Sequence[Any], slug: str) -> None:
    """Add to each entry its `target`, in words, and the `page` of it; one query per kind."""
    known: dict[tuple[str, str], Any] = {}
    for name in {entry.target_type for entry in entries} & TARGETS.keys():
        model = apps.get_model("auth" if name == "user" else "annotation", name)
        rows = model._default_manager.select_related(*TARGETS[name].related)
        ids = [entry.target_id for entry in entries if entry.target_type == name]
        known |= {(name, str(row.pk)): row for row in rows.filter(pk__in=ids)}
    for entry in entries:
        row = known.get((entry.target_type, entry.target_id))
        entry.target, entry.page = _describe(TARGETS[entry.target_type], row, slug) if row else ("", "")


def _describe(target: Target, row: Any, slug: str) -> tuple[str, str]:
    """A target in words, and its page."""
    if isinstance(row, Job):
        kind = KINDS[row.KIND]
        return f"{kind.label} {kind.name(row)}".strip(), kind.page(row)
    words = f"{target.label} {attrgetter(target.shown)(row)}" if target.shown else str(target.label)
    parts = [slug, *([attrgetter(target.part)(row)] if target.part else [])]
    return words, reverse(target.page, args=parts) if target.page else ""
