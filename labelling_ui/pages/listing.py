"""Lists of rows that filter, sort and page on the server, and download as CSV with the same filters."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import F, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render

from annotation.api.downloads import download
from annotation.core.bounds import read_choice
from annotation.labels.list_filters import ListFilter
from annotation.models import Project
from labelling_ui.pages.columns import Column
from labelling_ui.words import ALL
from prm.formats.csv_rows import guard

ROWS_A_PAGE = 50
CHUNK = 2000
Lookup = str | Callable[[QuerySet[Any], Any], QuerySet[Any]]


class Filters(forms.Form):
    """The filters of a list, each under its field's name in the address. All are optional, and
    invalid values are ignored.

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

    def csv(self) -> Iterator[str]:
        writer = csv.writer(_Echo())
        columns = [c for c in self.columns if c.downloads]
        yield writer.writerow([c.name for c in columns])
        for row in self.downloaded():
            cells = [c.csv(row) for c in columns]
            yield writer.writerow(["" if cell is None else guard(cell) for cell in cells])

    def downloaded(self) -> Iterable[Any]:
        """The rows of the CSV file."""
        return self.rows


class Listing(Table):
    """One page of `rows`, by the query parameters: `?sort=-name&page=2` and the filters' fields.

    `live` is the address that the page polls every two seconds while rows change.
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
    ) -> None:
        self.live = live
        self.filters = filters
        self.sort = request.GET.get("sort", sort)
        if self.sort.lstrip("-") not in {c.name for c in columns if c.order}:
            self.sort = sort
        self.narrowed = bool(filters and filters.chosen())
        rows = filters.narrow(rows) if filters else rows
        self.all = _in_order(rows, columns, self.sort)
        super().__init__(self.all, columns)
        # By key first: else the database would compute the columns of all rows on the pages before.
        self.page = Paginator(self.all.values("pk"), ROWS_A_PAGE).get_page(request.GET.get("page"))
        self.page.object_list = self.all.filter(pk__in=self.page.object_list)

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

    def downloaded(self) -> Iterable[Any]:
        return self.all.iterator(chunk_size=CHUNK)


def _in_order(rows: QuerySet[Any], columns: Sequence[Column], sort: str) -> QuerySet[Any]:
    """Sort nulls last. PostgreSQL cannot use an index for that, so a field without nulls is sorted plainly."""
    order = next(c.order for c in columns if c.name == sort.lstrip("-"))
    last = None if order == "pk" or _never_null(rows, order) else True
    first = F(order).desc(nulls_last=last) if sort.startswith("-") else F(order).asc(nulls_last=last)
    return rows.order_by(first) if order == "pk" else rows.order_by(first, "-pk")


def _never_null(rows: QuerySet[Any], order: str) -> bool:
    own = {field.name: field for field in rows.model._meta.concrete_fields}
    return order in own and not own[order].null


def respond(
    request: HttpRequest, template: str, listing: Table, name: str, context: dict[str, Any] | None = None
) -> HttpResponseBase:
    """The page, or with `?download=csv` the whole list as a file that is named after the project and `name`."""
    if request.GET.get("download") == "csv":
        slug = request.member.project.slug  # type: ignore[attr-defined]
        return download(listing.csv(), name=f"{slug}-{name}.csv", content_type="text/csv; charset=utf-8")
    page: HttpResponse = render(request, template, {"listing": listing, **(context or {})})
    return page


class _Echo:
    """A file for csv.writer that returns each line."""

    def write(self, line: str) -> str:
        return line
