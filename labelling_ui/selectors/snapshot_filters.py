"""A snapshot's filters, in the words of the form that sets them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Lane, choices

HELD = [("left_out", _("left out")), ("included", _("included"))]
NAMES = {
    "splits": _("Splits"),
    "policies": _("Written by"),
    "visibilities": _("What is seen of the reasoning"),
    "source_kinds": _("Labels by"),
    "finish_reasons": _("Ended with"),
    "lanes": _("Lanes"),
    "generations": _("Generations"),
    "hints": _("Labels made with the model's hints"),
    "submitted_from": _("From"),
    "submitted_to": _("Before"),
    "min_annotations": _("Least labels of a solution"),
    "revisions": _("Earlier revisions"),
    "set_aside": _("Batches that are set aside"),
    "gold": _("Gold solutions"),
    "critiques": _("Critiques"),
    "consensus": _("Consensus by"),
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
    """Times are in UTC; the first moment of a day is the day."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    day = date_format(moment.date(), "DATE_FORMAT")
    return day if moment.time() == moment.min.time() else f"{day}, {moment:%H:%M} UTC"


def _agreement(rule: Mapping[str, Any]) -> str:
    """Each source is a kind, or one source of a kind, "model_judge:name"."""
    kinds = dict(choices.SOURCE_KINDS)
    sources = (source.partition(":") for source in rule["sources"])
    named = ", ".join(f"{kinds.get(kind, kind)}{sign}{name}" for kind, sign, name in sources)
    return f"{AGREEMENT[rule.get('keep', 'agreeing'), rule.get('on', 'first_error')]}: {named}"
