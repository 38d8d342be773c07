"""Figures of large projects, stored with their time, because a page that computed them would take seconds.

A page of a small project computes its figures for each request. In a large one it shows the stored figures and their
time. If they are older than MAX_AGE, the browser asks for them again in the background, and the page then offers the
newer ones. A page whose figures were never computed appears at once, and fetches itself when they are ready.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

from django.core.cache import caches
from django.db.models import Exists
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language

import annotation
from annotation.models import Project

T = TypeVar("T")
MOST_LABELS, MOST_SOLUTIONS = 10_000, 50_000  # of a small project
MAX_AGE = timedelta(minutes=2)
LIFETIME = timedelta(days=30)
LONGEST = timedelta(minutes=3)  # for which one request computes a figure and others do not
AGAIN = "again"  # the query parameter of a request that computes the figures
SIGN = "figures-age"  # the id of the element with the figures' time


class NotComputed(Exception):
    """The project is large, and a figure was not computed yet."""


class CachedFigures:
    """The figures of the page that a request asks for. `computed_at` is the time of the oldest stored one."""

    do_not_call_in_templates = True

    def __init__(self, request: HttpRequest, project: Project) -> None:
        self.project = project
        self.computed_at: datetime | None = None
        # A file is made of fresh figures. After a form there may be no second chance to show what it has done.
        self._compute = AGAIN in request.GET or "download" in request.GET or request.method != "GET"
        htmx = getattr(request, "htmx", None)
        self.in_background = bool(htmx and htmx.target == SIGN)
        request.cached_figures = self  # type: ignore[attr-defined]

    @cached_property
    def is_large(self) -> bool:
        """Whether there is a label or a solution beyond the number that a small project may have."""
        labels = self.project.annotations.order_by()[MOST_LABELS:]
        solutions = self.project.solutions.order_by()[MOST_SOLUTIONS:]
        return bool(Project.objects.filter(Exists(labels) | Exists(solutions), pk=self.project.pk).exists())

    @property
    def is_old(self) -> bool:
        """Whether the figures should be computed again."""
        return self.computed_at is not None and timezone.now() - self.computed_at > MAX_AGE

    def __call__(self, name: str, compute: Callable[[], T]) -> T:
        """A figure, which must survive pickling; `name` distinguishes it from others of the project.

        Raises NotComputed in a large project without it, unless the request is for computing.
        """
        if not self.is_large:
            return compute()
        cache, key = caches["figures"], key_of(self.project, name)
        stored: tuple[datetime, T] | None = cache.get(key)
        busy = f"{key}:busy"
        if self._compute and cache.add(busy, 1, LONGEST.total_seconds()):
            try:
                stored = (timezone.now(), compute())
                cache.set(key, stored, LIFETIME.total_seconds())
            finally:
                cache.delete(busy)
        if stored is None:
            raise NotComputed
        self.computed_at = min(stored[0], self.computed_at or stored[0])
        return stored[1]


def key_of(project: Project, name: str) -> str:
    """The key of a figure in the cache. Figures contain words and days: each language and time zone has its own."""
    digest = hashlib.sha256(f"{_code()} {name}".encode()).hexdigest()[:32]
    return f"figures:{project.pk}:{get_language()}:{timezone.get_current_timezone_name()}:{digest}"


@lru_cache
def _code() -> str:
    """The hash of the code that computes and shows figures: after an upgrade, older figures are not read."""
    folders = Path(__file__).parent, Path(annotation.__file__).parent
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def respond_without_figures(request: HttpRequest) -> HttpResponse:
    """The page that appears until the figures of the requested one are computed."""
    return render(request, "labelling_ui/figures_pending.html")
