"""How far annotators agree: figures, a line over time, a heat map of pairs, and a table by any two dimensions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any, NamedTuple

import msgspec
from django import forms
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.members import domains_of
from annotation.labels.agreement.cube import FILTERS, LENGTHS, NOT_KNOWN, AgreementCell, Compared, Cube, Dimension
from annotation.models import Annotation, Membership, Project
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import day_of_month, decimal
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Column, Number
from labelling_ui.pages.listing import Filters, Table, respond
from labelling_ui.pages.people import everyone_in
from labelling_ui.templatetags.figures import NOTHING, count, percent
from labelling_ui.words import ALL
from prm.vocabulary import MACHINES

MOST_RATERS = 30  # in the heat map of pairs: those with the most labels
MOST_PLACES = 60  # rows and columns of another heat map
MOST_ROWS = 200  # of the table on the page; the file has all
LEVELS = (0.2, 0.4, 0.6, 0.8)  # shades of the heat map


@dataclass(frozen=True)
class Shown:
    """A measure on the page: its term, its name, a sentence, and how its values are written."""

    term: str
    name: str | Promise
    help: str | Promise
    write: Callable[[float | None], str]

    def interval(self, cell: AgreementCell) -> str:
        """The interval of a cell in words; empty without one."""
        if cell.low is None:
            return ""
        return gettext("%(low)s to %(high)s") % {"low": self.write(cell.low), "high": self.write(cell.high)}


def _coefficient(value: float | None) -> str:
    return NOTHING if value is None else decimal(value, 2)


_COUNTS_ONCE = _("Each unit counts once, so prefer alpha if the number of labels varies.")
MEASURES = {
    "exact": Shown(
        "first_error",
        _("Same first error"),
        _("The share of pairs of labels that name the same first error."),
        percent,
    ),
    "within_one": Shown(
        "first_error",
        _("First error within one step"),
        _("The share of pairs of labels whose first errors are at most one step apart."),
        percent,
    ),
    "exact_alpha": Shown(
        "alpha", _("Alpha, first error"), _("Agreement on the first error beyond chance."), _coefficient
    ),
    "within_one_alpha": Shown(
        "alpha",
        _("Alpha, first error within one step"),
        _("Agreement beyond chance on the first error, if neighbouring steps count as the same."),
        _coefficient,
    ),
    "steps_alpha": Shown(
        "alpha",
        _("Alpha, ratings of steps"),
        _("Agreement beyond chance on good, neutral and bad, as three categories without an order."),
        _coefficient,
    ),
    "steps_ordinal_alpha": Shown(
        "alpha",
        _("Alpha, ordered ratings of steps"),
        _("Agreement beyond chance on good, neutral and bad, of which good and bad differ most."),
        _coefficient,
    ),
    "exact_kappa": Shown(
        "kappa",
        _("Cohen’s kappa, first error"),
        _("Agreement of two annotators on the first error beyond chance, averaged over pairs of annotators."),
        _coefficient,
    ),
    "steps_kappa": Shown(
        "kappa",
        _("Cohen’s kappa, ratings of steps"),
        _("Agreement of two annotators on ratings beyond chance, averaged over pairs of annotators."),
        _coefficient,
    ),
    "exact_fleiss": Shown("kappa", _("Fleiss’ kappa, first error"), _COUNTS_ONCE, _coefficient),
    "steps_fleiss": Shown("kappa", _("Fleiss’ kappa, ratings of steps"), _COUNTS_ONCE, _coefficient),
}
FIGURES = ("exact", "within_one", "exact_alpha", "within_one_alpha", "steps_alpha", "steps_ordinal_alpha")
NAMES: dict[str, str | Promise] = {
    "annotator": _("Annotator"),
    "pair": _("Pair of annotators"),
    "week": _("Week"),
    "generation": _("Generation"),
    "domain": _("Domain"),
    "length": _("Number of steps"),
    "generator": _("Policy model"),
}
EXPLAINED = {
    "annotator": _("Each annotator compared with the others, two at a time."),
    "week": _("The week of the latest label on the solution."),
    "generation": _("The generation of the latest label on the solution."),
}
BETWEEN = [("people", _("people")), ("everyone", _("people and machines")), ("machines", _("machines with people"))]


class AgreementFilters(Filters):
    measure = forms.ChoiceField(choices=[(name, one.name) for name, one in MEASURES.items()], label=_("Measure"))
    rows = forms.ChoiceField(choices=list(NAMES.items()), label=_("Rows"))
    columns = forms.ChoiceField(choices=[("", _("none")), *NAMES.items()], label=_("Columns"))
    between = forms.ChoiceField(choices=BETWEEN, label=_("Labels by"))
    domain = forms.ChoiceField(label=_("Domain"))
    length = forms.ChoiceField(choices=[ALL, *((name, name) for name in LENGTHS)], label=_("Number of steps"))
    labelled_in = forms.IntegerField(min_value=0, label=_("Generation"))
    annotator = forms.ChoiceField(label=_("Annotator"))
    peer = forms.ChoiceField(label=_("Compared with"))
    generator = forms.CharField(widget=forms.HiddenInput)
    week = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, project: Project) -> None:
        super().__init__(data)
        domains = [(name, name) for name in domains_of(project) if name]
        self._offer("domain", [*domains, (NOT_KNOWN, _("not known"))])
        people = [(str(one.pseudonym), one.shown_name) for one in everyone_in(project)]
        labels = Annotation.objects.filter(source=OuterRef("pk"))
        without_account = Exists(labels.filter(annotator=None)) | ~Exists(labels)
        machines = project.label_sources.filter(without_account, kind__in=MACHINES)
        raters = [*people, *((f"source-{one.pk}", one.name or one.get_kind_display()) for one in machines)]
        self._offer("annotator", raters)
        self._offer("peer", raters)

    def _offer(self, name: str, choices: Sequence[tuple[str, str | Promise]]) -> None:
        field: Any = self.fields[name]
        field.choices = [ALL, *choices]


class Shade(NamedTuple):
    """A cell of the heat map; `level` is the shade, from 0."""

    text: str
    interval: str
    solutions: int
    href: str
    level: int


class HeatMap(NamedTuple):
    name: object
    columns: list[str]
    rows: list[tuple[str, list[Shade | None]]]


class Sheet:
    """The agreement that the reader chose, as the parts of the page."""

    def __init__(self, project: Project, chosen: dict[str, Any]) -> None:
        self.project = project
        self.measure: str = chosen.get("measure", "exact")
        self.shown = MEASURES[self.measure]
        named = (chosen.get("rows", "annotator"), chosen.get("columns"))
        self.by: list[Dimension] = [name for name in dict.fromkeys(named) if name]
        fields = {name: str(chosen[name]) for name in Compared.__struct_fields__ if name in chosen}
        self.filters = {"between": "people"} | fields

    @cached_property
    def cube(self) -> Cube:
        return Cube(self.project, msgspec.convert(self.filters, Compared))

    @cached_property
    def names(self) -> dict[str, str]:
        """The names of annotators by their keys."""
        return {rater.key: rater.name for rater in self.cube.raters.values()}

    @cached_property
    def cells(self) -> list[AgreementCell]:
        return self.cube.cells(self.measure, *self.by)

    def title(self, dimension: Dimension, key: str) -> str:
        """A value of a dimension in words."""
        if dimension in ("annotator", "pair"):
            return " – ".join(self.names[one] for one in key.split(" "))
        if key == NOT_KNOWN:
            return gettext("not known")
        return date_format(date.fromisoformat(key)) if dimension == "week" else key

    def address(self, cell: AgreementCell, by: Sequence[Dimension]) -> str:
        """The list of the solutions of a cell."""
        query, raters = dict(self.filters), [self.filters.get("annotator", ""), self.filters.get("peer", "")]
        for dimension, key in zip(by, (cell.row, cell.column), strict=False):
            if dimension in ("annotator", "pair"):
                raters += key.split(" ")
            else:
                query[FILTERS[dimension]] = key
        known = [key for key in dict.fromkeys(raters) if key]
        query |= dict(zip(("annotator", "peer"), known, strict=False))
        return f"{reverse('solutions', args=[self.project.slug])}?{urlencode(query)}"

    def table(self, *, most: int | None = None) -> Table:
        """The cells, or the first so many."""
        columns = [
            Column(
                name,
                NAMES[dimension],
                partial(self._title_of, name, dimension),
                heading=name == "row",
                term={"generation": "generation", "generator": "policy_model"}.get(dimension, ""),
                help=EXPLAINED.get(dimension, ""),
            )
            for name, dimension in zip(("row", "column"), self.by, strict=False)
        ]
        write = self.shown.write
        columns += [
            Number("agreement", self.shown.name, "value", write=write, term=self.shown.term, help=self.shown.help),
            Number("low", _("Lower bound"), write=write, term="confidence_interval"),
            Number("high", _("Upper bound"), write=write, term="confidence_interval"),
            Number("solutions", _("Solutions"), shown=self._linked, help=_("Solutions that two annotators labelled.")),
            Number("pairs", _("Compared pairs"), help=_("Pairs of labels or of ratings that are compared.")),
        ]
        return Table(self.cells[:most], columns, name=_("Agreement"))

    def figure(self, measure: str) -> dict[str, Any] | None:
        """The whole by one measure; None if nothing is compared."""
        shown = MEASURES[measure]
        for cell in self.cube.cells(measure):
            interval = shown.interval(cell)
            return {"shown": shown, "text": shown.write(cell.value), "interval": interval, "pairs": cell.pairs}
        return None

    def weeks(self) -> Chart:
        return week_chart(self.cube.cells(self.measure, "week"), self.shown, partial(self.address, by=["week"]))

    def heat_maps(self) -> Iterator[HeatMap]:
        """The chosen rows and columns, if there are both, and the pairs of annotators."""
        if len(self.by) > 1:
            chosen = {(cell.row, cell.column): self._shade(cell, self.by) for cell in self.cells}
            yield self._heat_map(f"{NAMES[self.by[0]]} × {NAMES[self.by[1]]}", self.by[0], self.by[1], chosen)
        pairs = {}
        for cell in self.cube.cells(self.measure, "pair", most_raters=MOST_RATERS):
            one, other = cell.row.split(" ")
            pairs[one, other] = pairs[other, one] = self._shade(cell, ["pair"])
        yield self._heat_map(_("Pairs of annotators"), "annotator", "annotator", pairs)

    def _heat_map(
        self, name: object, rows: Dimension, columns: Dimension, shades: dict[tuple[str, str], Shade]
    ) -> HeatMap:
        down, across = (
            self.cube.in_order(dimension, (pair[n] for pair in shades))[:MOST_PLACES]
            for n, dimension in enumerate((rows, columns))
        )
        return HeatMap(
            name,
            [self.title(columns, key) for key in across],
            [(self.title(rows, row), [shades.get((row, column)) for column in across]) for row in down],
        )

    def _shade(self, cell: AgreementCell, by: Sequence[Dimension]) -> Shade:
        level = sum(cell.value >= bound for bound in LEVELS) if cell.value is not None else 0
        interval = self.shown.interval(cell)
        return Shade(self.shown.write(cell.value), interval, cell.solutions, self.address(cell, by), level)

    def _title_of(self, name: str, dimension: Dimension, cell: AgreementCell) -> str:
        return self.title(dimension, getattr(cell, name))

    def _linked(self, cell: AgreementCell) -> SafeString:
        return format_html('<a href="{}">{}</a>', self.address(cell, self.by), count(cell.solutions))


@project_page(*STAFF)
def agreement(request: HttpRequest, member: Membership) -> HttpResponseBase:
    filters = AgreementFilters(request.GET, member.project)
    sheet = Sheet(member.project, filters.chosen())
    if request.GET.get("download") == "csv":
        return respond(request, "labelling_ui/agreement.html", sheet.table(), "agreement")
    cached = CachedFigures(request, member.project)
    sheet.cells, sheet.names, parts = cached(
        f"agreement {sheet.measure} {sheet.by} {sorted(sheet.filters.items())}",
        lambda: (sheet.cells, sheet.names, _parts(sheet)),
    )
    context = parts | {
        "chosen": {"filters": filters, "narrowed": bool(filters.chosen())},
        "all": len(sheet.cells),
        "most": MOST_ROWS,
    }
    return respond(request, "labelling_ui/agreement.html", sheet.table(most=MOST_ROWS), "agreement", context)


def _parts(sheet: Sheet) -> dict[str, Any]:
    """The parts of the page besides the table."""
    return {
        "figures": [figure for name in FIGURES if (figure := sheet.figure(name))],
        "chart": sheet.weeks(),
        "heat_maps": [one for one in sheet.heat_maps() if one.rows],
    }


def week_chart(cells: Sequence[AgreementCell], shown: Shown, address: Callable[[AgreementCell], str]) -> Chart:
    """The agreement of each week, as a line with its interval."""
    days = [date.fromisoformat(cell.row) for cell in cells]
    write = day_of_month if len({day.year for day in days}) < 2 else date_format
    points = [
        Point(
            write(day),
            cell.value,
            cell.low,
            cell.high,
            note=gettext("of %(n)s pairs") % {"n": count(cell.pairs)},
            href=address(cell),
        )
        for day, cell in zip(days, cells, strict=True)
    ]
    return line_chart(
        gettext("Agreement by week"),
        [Series(str(shown.name), "first", points)],
        help=gettext("%(name)s, by the week of the latest label on the solution, with its 95 %% interval.")
        % {"name": shown.name},
        term="agreement",
        places=gettext("week from"),
        no_values=gettext("This needs solutions labelled by two people."),
        form=shown.write,
        bottom=min([0.0, *(value for point in points for value in (point.low, point.value) if value is not None)]),
        top=1.0,
        band=True,
    )
