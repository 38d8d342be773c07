"""Template filters for figures: counts with separators, durations in human units, times in the reader's zone."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from math import floor, log10
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from annotation.core import wording
from annotation.models import Annotation, Lane, Membership, choices
from labelling_ui import numbers, words
from labelling_ui.numbers import decimal, rounded, short, signed
from prm.acquisition import FUNCTIONS

register = template.Library()

NOTHING = "–"
LONG = 25  # letters of a word that a column does not have to hold in one line


@register.filter
def count(value: int | None) -> str:
    """1234 -> 1,234, in the reader's language."""
    return NOTHING if value is None else intcomma(value)


@register.filter
def estimate(value: int, exact: bool = False) -> str:
    """80312 -> about 80,000; an exact number has all digits."""
    return count(value) if exact else _("about %(n)s") % {"n": count(rounded(value))}


@register.filter
def duration(seconds: float | timedelta | None) -> str:
    """Seconds in the unit a person would choose: 840 ms, 1.6 s, 12 s, 4.2 min, 3.1 h, 2.5 days."""
    if seconds is None:
        return NOTHING
    if isinstance(seconds, timedelta):
        seconds = seconds.total_seconds()
    if 0 < seconds < 1:
        return _("%(n)s ms") % {"n": decimal(seconds * 1000, 0)}
    if seconds < 90:
        return _("%(n)s s") % {"n": short(round(seconds, 1 if seconds < 10 else 0))}
    if seconds < 90 * 60:
        return _("%(n)s min") % {"n": decimal(seconds / 60, 1)}
    if seconds < 36 * 3600:
        return _("%(n)s h") % {"n": decimal(seconds / 3600, 1)}
    return _("%(n)s days") % {"n": decimal(seconds / 86400, 1)}


@register.filter
def milliseconds(value: float | None) -> str:
    return duration(None if value is None else value / 1000)


@register.filter
def money(amount: float | None) -> str:
    """12.5 -> 12.50, with two digits that are not zero for small amounts: 0.0169 -> 0.017."""
    if amount is None:
        return NOTHING
    return decimal(amount, max(2, 1 - floor(log10(amount))) if amount > 0 else 2)


@register.filter
def percent(share: float | None, digits: int = 0) -> str:
    return NOTHING if share is None else numbers.percent(share, digits)


@register.filter
def points(share: float | None) -> str:
    """A difference of shares, in percentage points with its sign: 0.0312 -> +3.1."""
    return NOTHING if share is None else signed(share * 100, 1)


@register.filter
def hundredths(share: float | None) -> str:
    """A score in [0, 1] as F1 is reported: 0.6234 -> 62.3."""
    return NOTHING if share is None else decimal(share * 100, 1)


@register.filter
def bytes_of(value: int | None) -> str:
    """1536 -> 1.5 kB."""
    size = float(value or 0)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{decimal(size, 0 if unit == 'B' else 1)} {unit}"
        size /= 1000
    return f"{decimal(size, 1)} TB"


@register.filter
def breakable(text: Any) -> Any:
    """A text that may break anywhere if it has a long word, such as a user name or the name of a file."""
    if isinstance(text, SafeString) or not isinstance(text, str) or max(map(len, text.split()), default=0) < LONG:
        return text
    return format_html('<span class="long">{}</span>', text)


@register.filter
def labelled_by(label: Annotation) -> str:
    """The author of a label: a person's name, or the name of its imported source."""
    if label.annotator:
        return label.annotator.shown_name
    return label.source.name or label.source.get_kind_display()


@register.filter
def in_words(text: str) -> str:
    """A stored message in the reader's language."""
    return wording.in_words(text)


@register.filter
def reason_in_words(reason: str) -> str:
    """The reason for giving up: a predefined one in the reader's language, another as written."""
    return _(reason) if reason in words.REASONS else reason


@register.filter
def kind_in_words(kind: str) -> str:
    """What kind of step it is."""
    return str(dict(choices.STEP_KINDS)[kind])


@register.filter
def role_in_words(role: str) -> str:
    return str(Membership.Role(role).label)


@register.filter
def draw_in_words(how: str) -> str:
    """How a lane was drawn, in words."""
    return _(how) if how in words.DRAWS else how


@register.filter
def acquisition_in_words(function: str) -> str:
    """What an acquisition function looks for, in words."""
    return in_words(FUNCTIONS.get(function).looks_for) if function in FUNCTIONS else function


@register.filter
def lane_in_words(lane: str) -> str:
    """The name of a lane."""
    return str(dict(Lane.choices).get(lane, lane))


@register.filter
def source_in_words(kind: str) -> str:
    """The name of a source kind."""
    return str(dict(choices.SOURCE_KINDS).get(kind, kind))


@register.filter
def when(value: datetime | None) -> str | SafeString:
    """A time in UTC, which page.js turns into the reader's own zone."""
    if value is None:
        return NOTHING
    utc = value.astimezone(timezone.get_fixed_timezone(0))
    text = f"{date_format(utc, 'DATETIME_FORMAT')} UTC"
    return format_html('<time datetime="{}" data-local>{}</time>', utc.isoformat(), text)


@register.filter
def share_of(part: float | None, whole: float | None) -> float:
    """part / whole, at most 1; 0 if the whole is 0."""
    return min(1.0, (part or 0) / whole) if whole else 0.0


@register.inclusion_tag("labelling_ui/parts/bar.html")
def bar(part: float | None, whole: float | None, label: str) -> dict[str, object]:
    """A progress bar of `part` in `whole`; `label` is its accessible name."""
    return {"percent": round(share_of(part, whole) * 100, 1), "label": label}


# The look of a badge by state, if it is not the default.
LOOKS = {
    "done": "done",
    "retired": "done",
    "in_use": "done",
    "ok": "done",
    "active": "done",
    "delivered": "done",
    "running": "running",
    "open": "running",
    "failed": "failed",
    "rejected": "failed",
    "suspected": "failed",
    "disabled": "failed",
    "fail": "failed",
    "cancelled": "skipped",
    "skipped": "skipped",
    "champion": "star",
}


@register.filter
def badge(state: str, words: object) -> SafeString:
    """A state in words, in the colours of its kind."""
    return format_html('<span class="state {}">{}</span>', LOOKS.get(state, ""), words)


@register.filter
def state_of(row: Any) -> SafeString:
    """The badge of a job, a model, a generation."""
    return badge(row.state, row.get_state_display())


@register.filter
def digest(sha256: str) -> SafeString:
    """A hash shortened to its first characters."""
    return format_html('<code title="{}">{}</code>', sha256, sha256[:12])


def tags(words: Iterable[str]) -> SafeString:
    return format_html_join(" ", '<span class="tag">{}</span>', ((word,) for word in words))


def code(text: str) -> SafeString:
    """A text in monospace, on at most two lines of a list."""
    return format_html('<code class="clip">{}</code>', Truncator(text).chars(200))


@register.filter
def opening(text: str) -> SafeString:
    """The beginning of a problem, on two lines of a list; `src/reading/page.tsx` typesets it."""
    return format_html('<span class="clip" data-typeset="reasoning">{}</span>', Truncator(text).chars(240))


@register.filter
def first_error(position: int | None) -> str | SafeString:
    """The number of the step at a position; none at -1."""
    if position is None:
        return format_html('<span class="muted">{}</span>', _("unknown"))
    return _("none") if position < 0 else f"{_('step')} {position + 1}"


@register.filter
def seconds_until(begin: datetime, end: datetime) -> float:
    """Seconds from one time to a later one."""
    return (end - begin).total_seconds()
