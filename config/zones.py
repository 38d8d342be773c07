"""Chooses the time zone of a page."""

from collections.abc import Callable
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from config.languages import API

COOKIE = "zone"  # page.js sets it


class ReadersZone:
    """Days and times that people read and type on pages are in the zone of their browser, those of the API in UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        name = "" if request.path.startswith(API) else request.COOKIES.get(COOKIE, "")
        with timezone.override(_zone(name)):
            return self.get_response(request)


@lru_cache
def _zone(name: str) -> ZoneInfo | None:
    return ZoneInfo(name) if name in available_timezones() else None
