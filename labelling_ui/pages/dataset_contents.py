"""The contents of a dataset in the reader's words: of a snapshot, or of its preview, whose counts may be estimates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.labels.datasets.plans import Plan
from annotation.labels.datasets.presets import PRESETS
from annotation.labels.datasets.snapshot_preview import Preview
from annotation.models import choices
from labelling_ui.numbers import rounded
from labelling_ui.pages.columns import Column
from labelling_ui.pages.listing import Table
from labelling_ui.templatetags.figures import estimate, percent
from prm.exporters import EXPORTERS
from prm.messages import Message
from prm.vocabulary import WORDS

RATINGS: dict[str, Promise] = {"good": _("good"), "neutral": _("neutral"), "bad": _("bad"), "unsure": _("unsure")}
FORMATS = [
    Column("format", _("Format"), "label", heading=True),
    Column("solutions", _("Solutions")),
    Column("left_out", _("Left out")),
]


class Share(NamedTuple):
    """A part of a bar: its look, its name and its share in percent."""

    look: str
    name: Promise
    share: float

    def __str__(self) -> str:
        return f"{self.name} {percent(self.share)}"

    @property
    def width(self) -> float:
        return round(self.share * 100, 1)


@dataclass(frozen=True)
class FormatRow:
    """What a file in a format has, and what it leaves out."""

    format: str
    solutions: str
    left_out: str

    @property
    def label(self) -> str:
        return title_of(self.format)


@dataclass(frozen=True)
class Contents:
    """The counts of a dataset, as on the pages, and the plans of some exports."""

    counts: Mapping[str, Any]
    plans: Sequence[Plan] = ()
    exact: bool = True

    @classmethod
    def of_preview(cls, preview: Preview) -> Self:
        return cls(preview.counts, preview.plans, preview.exact)

    @property
    def solutions(self) -> int:
        return self._number("solutions")

    @property
    def problems(self) -> int:
        return self._number("problems")

    @property
    def labels(self) -> int:
        return self._number("annotations")

    @property
    def people(self) -> int:
        return sum(self.counts.get("people", {}).values())

    @property
    def rated_steps(self) -> int:
        return sum(self.counts.get("ratings", {}).values())

    def splits(self) -> str:
        return self._listed("splits", dict(choices.SPLITS))

    def kinds(self) -> str:
        return self._listed("source_kinds", dict(choices.SOURCE_KINDS))

    def balance(self) -> list[Share]:
        """The shares of the ratings of steps."""
        ratings, total = self.counts.get("ratings", {}), self.rated_steps
        return [Share(word, RATINGS[word], ratings[word] / total) for word in WORDS if ratings.get(word)]

    def formats(self) -> Table:
        """What the file in each format has and leaves out."""
        return Table([self._row(plan) for plan in self.plans], FORMATS, name=_("What each format contains"))

    def _number(self, name: str) -> int:
        number: int = self.counts.get(name, 0)
        return number

    def _listed(self, name: str, words: Mapping[str, Any]) -> str:
        counts = self.counts.get(name, {})
        return ", ".join(f"{words[kind]} {estimate(counts[kind], self.exact)}" for kind in words if counts.get(kind))

    def _row(self, plan: Plan) -> FormatRow:
        if plan.refusal:
            return FormatRow(plan.format, "–", in_words(plan.refusal.message))
        return FormatRow(plan.format, estimate(plan.solutions, self.exact), "; ".join(losses(plan, exact=self.exact)))


def losses(plan: Plan, *, exact: bool = True) -> Iterator[str]:
    """A phrase for what a file leaves out; the numbers of an estimate are rounded."""
    for message in plan.sentences():
        values = dict(message.values)
        if not exact:
            values["n"] = rounded(int(values["n"]))
        yield in_words(Message(message.code, **values))


def title_of(format: str) -> str:
    """The name of an export format, to begin a line with."""
    return capfirst(in_words(EXPORTERS.get(format).title))


def grouped_formats() -> list[tuple[Promise, list[str]]]:
    """The export formats under the title of the first preset that has them; the others, from extensions, at the end."""
    left = list(EXPORTERS)
    groups: list[tuple[Promise, list[str]]] = []
    for preset in PRESETS.values():
        groups.append((preset.title, [format for format in preset.formats if format in left]))
        left = [format for format in left if format not in preset.formats]
    groups.append((_("Other formats"), left))
    return [(title, formats) for title, formats in groups if formats]
