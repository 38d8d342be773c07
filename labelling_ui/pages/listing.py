"""Lists of rows that filter, sort and page on the server, and download as CSV with the same filters."""

import csv
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec
from django import forms
from django.core.exceptions import FieldError
from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, F, Model, OuterRef, QuerySet, Value
from django.db.models.expressions import OrderBy
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext

from annotation.api.downloads import download
from annotation.core.bounds import read_choice
from annotation.core.reading import read_rows
from annotation.core.replica import stream_from_here
from annotation.labels.list_filters import ListFilter
from annotation.models import Project
from labelling_ui.pages.columns import Column
from labelling_ui.templatetags import figures
from labelling_ui.words import ALL
from prm.formats.csv_rows import guard

ROWS_A_PAGE = 50
MOST_COUNTED = 10_000  # of a longer list, the number of rows is an estimate
MOST_VALUES = 20  # of a column, for its rows to be read value by value
EARLY = 5_000  # rows that are read so
Lookup = str | Callable[[QuerySet[Any], Any], QuerySet[Any]]


class Filters(forms.Form):
    """The filters of a list, each under its field's name in the address. All are optional. Invalid values are not
    applied, and the list names their filters.

    The `filtered` columns are fields too. `lookups` maps a filter to a field of the rows or to a function; a
    filter that is not in it has the field's name, or is `own`: the subclass applies it. `rows` are the options of the
    fields that choose a row.
    """

    own: tuple[str, ...] = ()
    lookups: Mapping[str, Lookup] = {}

    def __init__(self, data: QueryDict, columns: Iterable[Column] = (), **rows: QuerySet[Any]) -> None:
        super().__init__(data)
        for name, queryset in rows.items():
            self.fields[name].queryset = queryset  # type: ignore[attr-defined]
        filtered = [c for c in columns if c.filtered]
        for c in filtered:
            self.fields[c.name] = forms.ChoiceField(choices=[ALL, *c.choices], label=c.label)
        for field in self.fields.values():
            field.required = False
        self.order_fields(self.field_order)
        self.by: dict[str, Lookup] = {**{c.name: c.path for c in filtered}, **self.lookups}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        for name, value in self.chosen().items():
            if name in self.own:
                continue
            by = self.by.get(name, name)
            rows = by(rows, value) if callable(by) else rows.filter(**{by: value})
        return rows

    def chosen(self) -> dict[str, Any]:
        self.is_valid()
        return {
            n: value for n, value in self.cleaned_data.items() if value is not False and value not in (None, "", [])
        }

    def ignored(self) -> str:
        """The labels of the filters that have a value and are not applied."""
        applied = self.chosen()
        sent = [n for n in self.fields if self.data.get(n, "").strip() and self.cleaned_data.get(n) is not False]
        return ", ".join(str(self[n].label) for n in sent if n not in applied)


class _Hidden(forms.CharField):
    """A filter that links set and the form does not show, read as the API reads it."""

    widget = forms.HiddenInput

    def __init__(self, kind: Any) -> None:
        super().__init__(required=False)
        self.kind = kind

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            return msgspec.convert(text, self.kind, strict=False, dec_hook=read_choice) if text else None
        except msgspec.ValidationError as error:
            raise forms.ValidationError(str(error)) from None


class SharedFilters(Filters):
    """Filters that the API has too: a `ListFilter`, `kind`, has fields of the same names and applies them.

    Its fields that the form does not declare are hidden.
    """

    kind: type[ListFilter]

    def __init__(
        self, data: QueryDict, project: Project, columns: Iterable[Column] = (), **rows: QuerySet[Any]
    ) -> None:
        super().__init__(data, columns, **rows)
        self.project = project
        for one in msgspec.structs.fields(self.kind):
            if one.name not in self.fields:
                self.fields[one.name] = _Hidden(one.type)

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return self.shared().narrow(self.project, rows)

    def shared(self) -> ListFilter:
        """The filter that the API has too."""
        fields: Any = self.fields
        keys = {n: fields[n].prepare_value(v) if isinstance(v, Model) else v for n, v in self.chosen().items()}
        return self.kind(**keys)


class Table:
    """Rows without pagination. `name` is the accessible name of the scrolling region."""

    part = "table"
    narrowed = False

    def __init__(self, rows: Iterable[Any], columns: Sequence[Column], *, name: object = "") -> None:
        self.rows = rows
        self.columns = columns
        self.name = name

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def heads(self) -> list[dict[str, Any]]:
        return [{"column": c} for c in self.columns]

    def csv(self) -> Generator[str]:
        writer = csv.writer(_Echo())
        columns = [c for c in self.columns if c.downloads]
        yield writer.writerow([c.name for c in columns])
        cells = [c.csv for c in columns]
        for values in self.downloaded(columns):
            written = [cell(value) for cell, value in zip(cells, values, strict=True)]
            yield writer.writerow(["" if cell is None else guard(cell) for cell in written])

    def downloaded(self, columns: Sequence[Column]) -> Iterable[Sequence[Any]]:
        """The values of the columns in each row of the CSV file."""
        return ([c.value(row) for c in columns] for row in self.rows)


class Listing(Table):
    """One page of `rows`, by the query parameters: `?sort=-name&page=2` and the filters' fields.

    `live` is the address that the page polls every two seconds while rows change. The number of many rows is
    `estimated` without `?exact=1`. `counted` has, for a column that counts related rows, those rows and the name of
    their key to the listed one. `values` reads, for a column with few values, all of them in the order of the database.
    `known` has the keys of all rows in the order `sort`, if the caller has read them; such a list has no filters.
    """

    part = "listing"
    page: Page[Any]

    def __init__(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        columns: Sequence[Column],
        *,
        sort: str,
        filters: Filters | None = None,
        live: str = "",
        counted: Mapping[str, tuple[QuerySet[Any], str]] | None = None,
        values: Mapping[str, Callable[[], Sequence[Any]]] | None = None,
        known: Sequence[int] | None = None,
    ) -> None:
        self.live = live
        self.filters = filters
        self.sort = request.GET.get("sort", sort)
        self.sorts_otherwise = self.sort.lstrip("-") not in {c.name for c in columns if c.order}
        if self.sorts_otherwise:
            self.sort = sort
        self.narrowed = bool(filters and filters.chosen())
        rows = filters.narrow(rows) if filters else rows
        order = next(c.order for c in columns if c.name == self.sort.lstrip("-"))
        keys = _Keys(rows, order, descending=self.sort.startswith("-"), exact="exact" in request.GET)
        if counted and order in counted:
            related, key = counted[order]
            keys.count_related(related.filter(**{f"{key}__in": rows.values("pk")}) if self.narrowed else related, key)
        if values and order in values and not self.narrowed:
            keys.read_by_value(order, values[order]())
        if self.narrowed or known is not None:
            keys.read_whole_if_few()
        self.all = rows.order_by(*keys.order)
        super().__init__(self.all, columns)
        # By key first: else the database would compute the columns and repeat the filters for rows on other pages.
        self.page = self._page(request, keys if known is None or self.sort != sort else known)
        self.page.object_list = self.all.filter(pk__in=self.page.object_list)

    def _page(self, request: HttpRequest, keys: "_Keys | Sequence[int]") -> Page[Any]:
        pages: Paginator[Any] = Paginator(keys, ROWS_A_PAGE)  # type: ignore[arg-type]
        page = pages.get_page(request.GET.get("page"))
        self.estimated = isinstance(keys, _Keys) and keys.estimated
        if isinstance(keys, _Keys) and keys.estimated and (not page.has_next() or len(page) < ROWS_A_PAGE):
            return self._page(request, keys.exactly())  # the end of either
        return page

    def ignored(self) -> str:
        """The labels of the filters and of the order in the address that are not applied."""
        filters = self.filters.ignored() if self.filters else ""
        return ", ".join(filter(None, [filters, gettext("Sort order") if self.sorts_otherwise else ""]))

    def shown_count(self) -> str:
        return figures.estimate(self.page.paginator.count, exact=not self.estimated)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.page.object_list)

    def heads(self) -> list[dict[str, Any]]:
        """The header of each column, with the order that a click selects."""
        return [
            {
                "column": c,
                "sort": c.order and (f"-{c.name}" if self.sort == c.name else c.name),
                "order": {c.name: "ascending", f"-{c.name}": "descending"}.get(self.sort, ""),
            }
            for c in self.columns
        ]

    def downloaded(self, columns: Sequence[Column]) -> Iterable[Sequence[Any]]:
        if all(isinstance(c.source, str) and _is_stored(self.all, c.path) for c in columns):
            return read_rows(self.all.values_list(*[c.path for c in columns]))
        return ([c.value(row) for c in columns] for row in read_rows(self.all))


class _Keys:
    """The keys of rows in an order, for a Paginator: those with a value first, then those where it is null.

    The two are separate queries, because PostgreSQL cannot use an index to sort nulls last. The number of many rows is
    an estimate unless it is `exact`.
    """

    ordered = True
    estimated = False
    _reads_few = _few = False

    def __init__(self, rows: QuerySet[Any], order: str, *, descending: bool, exact: bool) -> None:
        last = None if order == "pk" or _never_null(rows, order) else True
        first = F(order).desc(nulls_last=last) if descending else F(order).asc(nulls_last=last)
        ties = [] if order == "pk" else ["-pk"]
        self.order: list[OrderBy | str] = [first, *ties]
        rows = rows.values_list("pk", flat=True)
        self._rows, self._exact, self._descending = rows.order_by(), exact, descending
        self._early: list[QuerySet[Any]] = []  # in place of the parts
        self._parts: list[QuerySet[Any]] = [rows.order_by(*self.order)]  # one after the other
        if last:
            having = rows.filter(**{f"{order}__isnull": False})
            lacking = rows.filter(**{f"{order}__isnull": True})
            self._parts = [having.order_by(f"-{order}" if descending else order, *ties), lacking.order_by("-pk")]

    def count_related(self, related: QuerySet[Any], key: str) -> None:
        """Order by the number of `related` rows, whose `key` names the listed one.

        Rows with related ones and those without are separate queries, so that the database counts only for the former.
        """
        counts = (
            related.order_by()
            .values(key)
            .annotate(n=Count("pk"))
            .order_by("-n" if self._descending else "n", f"-{key}")
        )
        having: QuerySet[Any] = counts.values_list(key, flat=True)
        lacking = self._rows.filter(~Exists(related.filter(**{key: OuterRef("pk")}))).order_by("-pk")
        self._parts = [having, lacking] if self._descending else [lacking, having]

    def read_by_value(self, order: str, values: Sequence[Any]) -> None:
        """Read early rows value by value, and the rows of one value by their keys.

        The database then finds a page in the index of keys, and does not sort all rows by a column with few values. For
        a late page it would have to count the rows of each value before.
        """
        if len(values) <= MOST_VALUES:
            by_value = [self._rows.filter(**{order: value}).order_by("-pk") for value in values]
            self._early = [*(by_value[::-1] if self._descending else by_value), *self._parts[1:]]

    def read_whole_if_few(self) -> None:
        """Read all keys, without a limit, if there are few.

        With a limit, PostgreSQL expects to find the rows of a page early in an index of all rows, and reads most of it.
        """
        self._reads_few = True

    def exactly(self) -> "_Keys":
        """The same keys with their exact number."""
        same = copy(self)
        same._exact, same.estimated = True, False
        return same

    def count(self) -> int:
        if self._exact:
            return self._rows.count()
        known = self._rows[: MOST_COUNTED + 1].count()
        if known <= MOST_COUNTED:
            self._few = self._reads_few
            return known
        self.estimated = True
        [plan] = json.loads(self._rows.explain(format="json"))
        return max(known, int(plan["Plan"]["Plan Rows"]))

    def __getitem__(self, place: slice) -> list[Any]:
        if self._few:
            return [key for part in self._parts for key in part][place]
        keys: list[Any] = []
        start, wanted = place.start, place.stop - place.start
        parts = self._early if self._early and place.stop <= EARLY else self._parts
        for number, part in enumerate(parts, 1):
            keys += (read := list(part[start : start + wanted - len(keys)]))
            if len(keys) == wanted or number == len(parts):
                break
            start = max(start - part.count(), 0) if start and not read else 0
        return keys


def _is_stored(rows: QuerySet[Any], path: str) -> bool:
    """Whether the database has the value of a path, so that no object is needed to read it."""
    if path in rows.query.annotations:
        return True
    try:
        rows.query.names_to_path(path.split("__"), rows.model._meta, fail_on_missing=True)
    except FieldError:  # a property, or a place in a JSON document
        return False
    return True


def _never_null(rows: QuerySet[Any], order: str) -> bool:
    own = {field.name: field for field in rows.model._meta.concrete_fields}
    if order in own:
        return not own[order].null
    computed = rows.query.annotations.get(order)
    return isinstance(computed, Coalesce) and isinstance(computed.get_source_expressions()[-1], Value)


def respond(
    request: HttpRequest, template: str, listing: Table, name: str, context: dict[str, Any] | None = None
) -> HttpResponseBase:
    """The page, or with `?download=csv` the whole list as a file that is named after the project and `name`."""
    if request.GET.get("download") == "csv":
        slug = request.member.project.slug  # type: ignore[attr-defined]
        lines = stream_from_here(listing.csv())
        return download(lines, name=f"{slug}-{name}.csv", content_type="text/csv; charset=utf-8")
    page: HttpResponse = render(request, template, {"listing": listing, **(context or {})})
    return page


class _Echo:
    """A file for csv.writer that returns each line."""

    def write(self, line: str) -> str:
        return line
