"""Lists of rows that filter, sort and page on the server, and download as CSV with the same filters."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from annotation.api.downloads import download
from prm.formats.csv_rows import guard

ROWS_A_PAGE = 50
CHUNK = 2000


@dataclass(frozen=True)
class Column:
    """`name` heads the CSV column; `cell` reads it off a row; `sort` is the field to order by, empty for none."""

    name: str
    label: Any
    cell: Callable[[Any], object]
    sort: str = ""
    number: bool = False


class Filters(forms.Form):
    """What a list may be narrowed to; each field names itself in the address. Invalid values filter nothing."""

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        raise NotImplementedError

    def chosen(self) -> dict[str, Any]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "", [])}


class Listing:
    """One page of `rows` as the address asks for them: `?sort=-name&page=2` and the filters' fields."""

    def __init__(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        columns: list[Column],
        *,
        sort: str,
        filters: Filters | None = None,
    ) -> None:
        self.filters = filters
        self.columns = columns
        self.sort = request.GET.get("sort", sort)
        if self.sort.lstrip("-") not in {c.name for c in columns if c.sort}:
            self.sort = sort
        self.narrowed = bool(filters and filters.chosen())
        rows = filters.narrow(rows) if filters else rows
        self.rows = self._in_order(rows)
        self.page: Page[Any] = Paginator(self.rows, ROWS_A_PAGE).get_page(request.GET.get("page"))

    def heads(self) -> list[dict[str, Any]]:
        """The head of each column, with the order that a click asks for."""
        return [
            {
                "label": c.label,
                "number": c.number,
                "sort": c.sort and (f"-{c.name}" if self.sort == c.name else c.name),
                "order": {c.name: "ascending", f"-{c.name}": "descending"}.get(self.sort, ""),
            }
            for c in self.columns
        ]

    def csv(self) -> Iterator[str]:
        writer = csv.writer(_Echo())
        yield writer.writerow([c.name for c in self.columns])
        for row in self.rows.iterator(chunk_size=CHUNK):
            cells = [c.cell(row) for c in self.columns]
            yield writer.writerow(["" if cell is None else guard(cell) for cell in cells])

    def _in_order(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        column = next(c for c in self.columns if c.name == self.sort.lstrip("-"))
        by = F(column.sort)
        first = by.desc(nulls_last=True) if self.sort.startswith("-") else by.asc(nulls_last=True)
        return rows.order_by(first, "-pk")


def respond(
    request: HttpRequest, template: str, listing: Listing, name: str, context: dict[str, Any]
) -> HttpResponseBase:
    """The page, or with `?download=csv` the whole list as a file of this name."""
    if request.GET.get("download") == "csv":
        return download(listing.csv(), name=f"{name}.csv", content_type="text/csv; charset=utf-8")
    page: HttpResponse = render(request, template, {"listing": listing, **context})
    return page


class _Echo:
    """What csv.writer writes to: it hands the line back."""

    def write(self, line: str) -> str:
        return line
