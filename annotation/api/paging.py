"""Lists come in pages."""

from django.db.models import QuerySet
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView


class Pages(PageNumberPagination):
    """`?page=` asks for a further page; the answer has `count`, `next`, `previous` and `results`."""

    page_size = 50


class PagedView(APIView):
    """A view whose GET is a list; the description says so too."""

    pagination_class = Pages

    def page_of(self, rows: QuerySet, request: Request, serializer: type[Serializer]) -> Response:
        """The page that was asked for, of rows that are in order."""
        pages = Pages()
        page = pages.paginate_queryset(rows, request, view=self)
        return pages.get_paginated_response(serializer(page, many=True).data)
