"""Pages of lists."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.bounds import Count

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T]):
    """One page of a list, with the addresses of the next and previous page."""

    count: Count
    next: str | None
    previous: str | None
    results: list[T]


class PagedView(APIView):
    """A view whose GET returns a list; `?page=` selects a page."""

    def page_of(self, rows: QuerySet, request: Request, shown: Callable[[Any], Any]) -> Response:
        """The requested page of ordered rows, each converted by `shown`."""
        pages = PageNumberPagination()
        pages.page_size = 50
        results = [shown(row) for row in pages.paginate_queryset(rows, request, view=self) or ()]
        assert pages.page is not None
        page: Page[Any] = Page(
            count=pages.page.paginator.count,
            next=pages.get_next_link(),
            previous=pages.get_previous_link(),
            results=results,
        )
        return Response(page)
