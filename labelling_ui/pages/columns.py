"""The columns of tables: each reads a value off a row and writes it twice, for the page and for the CSV file."""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from labelling_ui.glossary import TERMS
from labelling_ui.templatetags import figures

ALIKE = 80  # characters, which nearly fill the two lines of a text


def read_field(holder: Any, name: str) -> Any:
    """The value under a name in an object or a mapping; None if it is absent."""
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)


@dataclass(frozen=True)
class Column:
    """A column of texts. The subclasses are for other kinds of value.

    `name` heads the CSV column. `source` is where the value comes from: a path of names (`problem__domain`, by default
    `name`) or a function of the row. `sort` is the field to order by, True for the path. `link` is the page of a value,
    whose address has the project and the value. `write` formats the value for the page; `shown` formats the row, if the
    value alone is not enough. `heading` marks the column that names its row. A `filtered` column is also a filter, with
    its `choices`. `term` is the label's key in the glossary; `help` explains the label in this table, in a sentence.
    """

    name: str
    label: Any
    source: str | Callable[[Any], Any] = ""
    sort: str | bool = False
    link: str = ""
    write: Callable[[Any], Any] = str
    shown: Callable[[Any], Any] | None = None
    look: str = ""
    heading: bool = False
    choices: Any = ()
    filtered: bool = False
    term: str = ""
    help: Any = ""

    number: ClassVar[bool] = False
    downloads: ClassVar[bool] = True

    @property
    def path(self) -> str:
        """The lookup of the value in the database."""
        return self.source if isinstance(self.source, str) and self.source else self.name

    @property
    def order(self) -> str:
        """The field to order by, empty for none."""
        return self.path if self.sort is True else self.sort or ""

    @property
    def explanation(self) -> Any:
        """A sentence for the table's head; empty for none."""
        return self.help or (TERMS[self.term].definition if self.term else "")

    def value(self, row: Any) -> Any:
        if callable(self.source):
            return self.source(row)
        for name in self.path.split("__"):
            row = read_field(row, name)
        return row

    def among(self, rows: Sequence[Any]) -> "Column":
        """The column for the page that shows these rows."""
        return self

    def csv(self, value: Any) -> object:
        return value

    def html(self, row: Any, slug: str = "") -> SafeString:
        value = self.value(row)
        has_value = value is not None and value != ""
        text = (
            (self.shown(row) or figures.NOTHING) if self.shown else self.write(value) if has_value else figures.NOTHING
        )
        text = figures.breakable(text)
        if self.link and has_value:
            return format_html('<a href="{}">{}</a>', reverse(self.link, args=[slug, value]), text)
        return conditional_escape(text)


@dataclass(frozen=True)
class Number(Column):
    write: Callable[[Any], Any] = figures.count
    number: ClassVar[bool] = True


@dataclass(frozen=True)
class Duration(Number):
    """Seconds."""

    write: Callable[[Any], Any] = figures.duration


@dataclass(frozen=True)
class Statistic(Number):
    """A number that needs an explanation."""

    def __post_init__(self) -> None:
        if not self.explanation:
            raise TypeError(f"Column {self.name!r} is a statistic: give it `term` or `help`.")


@dataclass(frozen=True)
class Share(Statistic):
    """A share from 0 to 1, in percent on the page."""

    write: Callable[[Any], Any] = figures.percent


@dataclass(frozen=True)
class Estimate(Statistic):
    """A statistic with its interval below: an object or a mapping with value, low and high."""

    def csv(self, value: Any) -> object:
        return read_field(value, "value")

    def html(self, row: Any, slug: str = "") -> SafeString:
        return write_estimate(self.value(row), self.write)


def write_estimate(estimate: Any, write: Callable[[Any], Any], *, value: str = "value") -> SafeString:
    """Render a statistic with its interval below, if it has one."""
    figure, low = read_field(estimate, value), read_field(estimate, "low")
    if figure is None or low is None:
        return conditional_escape(figures.NOTHING if figure is None else write(figure))
    interval = write(low), write(read_field(estimate, "high"))
    return format_html('{}<br><span class="muted small">{} … {}</span>', write(figure), *interval)


@dataclass(frozen=True)
class When(Column):
    write: Callable[[Any], Any] = figures.when

    def csv(self, value: datetime | None) -> object:
        return value and value.isoformat()


@dataclass(frozen=True)
class Choice(Column):
    """One of `choices`: its label on the page, its stored value in the file."""

    def html(self, row: Any, slug: str = "") -> SafeString:
        value = self.value(row)
        words = dict(self.choices).get(value, value)
        return conditional_escape(figures.breakable(self.write(words)) if words not in (None, "") else figures.NOTHING)


@dataclass(frozen=True)
class State(Choice):
    """A state, as a badge."""

    def html(self, row: Any, slug: str = "") -> SafeString:
        value = self.value(row)
        return figures.badge(value, dict(self.choices)[value])


@dataclass(frozen=True)
class Opening(Column):
    """A problem's text, from the sentence in which it differs from the others on the page: prompts may begin alike."""

    write: Callable[[Any], Any] = figures.opening

    def among(self, rows: Sequence[Any]) -> "Opening":
        texts = sorted({self.value(row) for row in rows} - {None})
        shared = dict.fromkeys(texts, 0)
        for one, other in pairwise(texts):
            n = _shared_length(one, other)
            shared[one], shared[other] = max(shared[one], n), max(shared[other], n)
        begins = {text: _sentence_before(text, n) for text, n in shared.items() if n > ALIKE}
        return replace(self, write=lambda text: self.write(f"… {text[begins[text] :]}" if text in begins else text))


def _shared_length(one: str, other: str) -> int:
    """The length of the beginning that both share."""
    places = range(min(len(one), len(other)))
    return bisect_left(places, True, key=lambda place: one[: place + 1] != other[: place + 1])


def _sentence_before(text: str, place: int) -> int:
    """Where the sentence at a place begins, or its word if the sentence is long."""
    begun = [found.end() for found in re.finditer(r"[.!?]\s+|\n+", text[:place]) if place - found.end() < ALIKE]
    return begun[-1] if begun else text.rfind(" ", 0, place) + 1


@dataclass(frozen=True)
class FirstError(Number):
    """A position: the number of the step on the page."""

    def html(self, row: Any, slug: str = "") -> SafeString:
        return conditional_escape(figures.first_error(self.value(row)))


@dataclass(frozen=True)
class Control(Column):
    """The actions on a row; the CSV file omits it. A `hidden` label is for screen readers only."""

    hidden: bool = True
    downloads: ClassVar[bool] = False
