"""The filters of a snapshot as a form, and in the reader's words."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db import connection
from django.db.models import Exists, OuterRef
from django.forms import BoundField
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.members import domains_of
from annotation.core.wording import in_words
from annotation.labels.datasets.filters import SnapshotFilters, parse_filters
from annotation.models import MEMBER_NAME, Annotation, Lane, Project, choices
from labelling_ui.pages.agreement_fields import FIELDS, AgreementFields, agreement_initial
from labelling_ui.pages.struct_fields import struct_field
from prm.consensus import CONSENSUS

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
    "graded": _("Graded solutions of each side"),
    "estimates": _("Solutions with Monte Carlo estimates"),
    "critiques": _("Critiques"),
    "comments": _("Comments and reasons"),
    "consensus": _("Consensus by"),
    "fit": _("Consensus fit"),
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
    "comments": dict(HELD),
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
# The fields by what they select, with a heading each.
GROUPS: list[tuple[Promise, tuple[str, ...]]] = [
    (
        _("Solutions"),
        (
            "splits", "domains", "policies", "visibilities", "text", "gold", "graded", "estimates", "min_annotations",
        ),
    ),
    (
        _("Labels"),
        (
            "source_kinds", "annotators", "finish_reasons", "lanes", "generations", "guidelines",
            "submitted_from", "submitted_to", "hints", "revisions", "set_aside", "critiques", "comments",
        ),
    ),
    (_("Consensus and agreement"), ("consensus", "fit", "min_posterior", *FIELDS)),
]  # fmt: skip


HELP = {
    "graded": _("Unread solutions with a right, and with a wrong final answer. They are in no download."),
    "estimates": _(
        "At most this many unread solutions, and as many labelled ones. No download contains their estimates."
    ),
    "min_annotations": _("0 includes solutions without labels."),
    "submitted_to": _("Days are in UTC."),
    "fit": _("The number of an earlier fit. Leave it empty for the labels as they are now."),
    "min_posterior": _("From 0 to 1. Solutions with a less certain step are left out."),
}


class SnapshotForm(AgreementFields):
    """The filters of a snapshot; it begins with `filters`. An empty form means all labels."""

    def __init__(self, *args: Any, project: Project, filters: Mapping[str, Any] | None = None, **named: Any) -> None:
        super().__init__(*args, **named | {"initial": _initial(filters or {})})
        for name, label in NAMES.items():
            options = {"choices": list(CHOICES[name].items())} if name in CHOICES else {}
            named = {"required": False, "label": label, "help_text": HELP.get(name, "")} | options
            self.fields[name] = struct_field(SnapshotFilters, name, **named)
        for name, rows in (("generations", project.generations), ("guidelines", project.guideline_versions)):
            self._offer(name, [(n, str(n)) for n in rows.order_by("number").values_list("number", flat=True)])
        self._offer("domains", [(domain, domain) for domain in domains_of(project) if domain])
        self._offer("policies", [(policy, policy) for policy in policies_of(project) if policy])
        self._offer("annotators", _annotators_of(project))
        self._offer("consensus", [(name, in_words(CONSENSUS.get(name).title)) for name in CONSENSUS])

    def groups(self) -> list[tuple[Promise, list[BoundField]]]:
        """The fields under their headings, without those that offer nothing in this project."""
        return [(title, [self[name] for name in names if self._has_options(name)]) for title, names in GROUPS]

    def filters(self) -> dict[str, Any]:
        """The filters as `create_snapshot` expects them."""
        empty: tuple[Any, ...] = (None, "", [])
        chosen = {name: value for name, value in self.cleaned_data.items() if value not in empty and name not in FIELDS}
        if rule := self.agreement():
            chosen["agreement"] = rule
        for name in ("submitted_from", "submitted_to"):
            if name in chosen:
                chosen[name] = chosen[name].isoformat()
        return chosen

    def _offer(self, name: str, options: list[tuple[Any, str]]) -> None:
        self.fields[name].choices = options  # type: ignore[attr-defined]

    def _has_options(self, name: str) -> bool:
        options: Any = getattr(self.fields[name], "choices", None)
        return options is None or bool(list(options))


def _initial(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the form's fields for these filters; the defaults of a snapshot for the others."""
    complete = parse_filters(dict(filters))
    values = msgspec.structs.asdict(complete)
    for name in ("submitted_from", "submitted_to"):
        values[name] = values[name] and values[name].date()
    return values | agreement_initial(complete.agreement) | {"min_posterior": complete.min_posterior or None}


def policies_of(project: Project) -> list[str]:
    """The models that wrote the project's solutions, in the order of the database; empty if one is not known."""
    with connection.cursor() as cursor:
        cursor.execute(_POLICIES, {"project": project.pk})
        return [name for (name,) in cursor.fetchall()]


# Jumps from each policy to the next one in the index; a plain DISTINCT would read every solution.
_POLICIES = """
WITH RECURSIVE known (split, generator) AS (
    (
        SELECT split, generator FROM annotation_solution
        WHERE project_id = %(project)s ORDER BY split, generator LIMIT 1
    )
    UNION ALL
    SELECT later.split, later.generator FROM known CROSS JOIN LATERAL (
        SELECT split, generator FROM annotation_solution
        WHERE project_id = %(project)s AND (split, generator) > (known.split, known.generator)
        ORDER BY split, generator LIMIT 1
    ) later
)
SELECT DISTINCT generator FROM known ORDER BY generator
"""


def _annotators_of(project: Project) -> list[tuple[str, str]]:
    """The pseudonyms of the members with labels, each with the name that the project's managers know."""
    members = project.memberships.filter(Exists(Annotation.objects.filter(annotator=OuterRef("pk"))))
    known = members.select_related("user").order_by(MEMBER_NAME)
    return [(str(member.pseudonym), member.shown_name) for member in known]


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
