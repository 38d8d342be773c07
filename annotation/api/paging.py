"""Pages of lists."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar, cast

import msgspec
from django.core.signing import BadSignature, Signer
from django.db.models import Q, QuerySet
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from annotation.api.boundary import read_query
from annotation.core.bounds import about, invalid
from prm.messages import Message

T = TypeVar("T")
MOST_ROWS = 500


class PageQuery(msgspec.Struct):
    limit: Annotated[int, Meta(ge=1, le=MOST_ROWS, description="Rows on a page.")] = 50
    cursor: Annotated[str, about("Where the page begins, from `next` of the page before.")] = ""


class Page(msgspec.Struct, Generic[T]):
    """One page of a list."""

    next: Annotated[str | None, about("Address of the next page; null on the last one.")]
    results: Annotated[list[T], about("The rows of this page.")]


class PagedView(APIView):
    """A view whose GET returns a list, one page at a time.

    A cursor states the place of a page's last row in the order of the list. The next page begins after that place, so
    that rows that are added meanwhile neither repeat nor hide others, and a late page is as fast as the first.
    """

    def page_of(self, rows: QuerySet[Any], request: Request, shown: Callable[[Any], Any]) -> Response:
        """The requested page of `rows`, each converted by `shown`; the order as for `read_page`."""
        page, following = self.read_page(rows, request)
        return Response(Page(following, [shown(row) for row in page]))

    def read_page(self, rows: QuerySet[Any], request: Request) -> tuple[list[Any], str | None]:
        """The rows of the requested page, and the address of the next one.

        The order of `rows` names fields that are never null; the last of them is unique in the list. Raises DomainError
        (`invalid`) for a cursor of another list.
        """
        query = read_query(request, PageQuery)
        order = cast(Sequence[str], rows.query.order_by or rows.model._meta.ordering)
        assert order, "pages need an order"
        signer = Signer(salt=f"{type(self).__qualname__} {' '.join(order)}")
        if query.cursor:
            try:
                rows = rows.filter(_after(order, signer.unsign_object(query.cursor)))
            except BadSignature:
                raise invalid("cursor", Message("cursor_of_another_list")) from None
        page = list(rows[: query.limit + 1])
        if len(page) <= query.limit:
            return page, None
        place = [_as_json(getattr(page[query.limit - 1], field.lstrip("-"))) for field in order]
        following = replace_query_param(request.build_absolute_uri(), "cursor", signer.sign_object(place))
        return page[: query.limit], following


def _after(order: Sequence[str], place: Sequence[Any]) -> Q:
    """Whether a row comes after a place in the order."""
    field, value = order[0].lstrip("-"), place[0]
    way = "lt" if order[0].startswith("-") else "gt"
    if len(order) == 1:
        return Q((f"{field}__{way}", value))
    # The first condition follows from the second. It is a range, which an index of this field can find.
    beyond = Q((f"{field}__{way}", value)) | Q((field, value)) & _after(order[1:], place[1:])
    return Q((f"{field}__{way}e", value)) & beyond


def _as_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
