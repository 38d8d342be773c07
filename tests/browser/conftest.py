"""Pages of which no script error and no late request goes unseen."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, Request


@pytest.fixture
def open_for(page_for: Callable[..., Page]) -> Iterator[Callable[..., Page]]:
    """`page_for`, where a script error fails the test and no request outlives it into the next test's database."""
    errors: list[str] = []
    contexts: list[BrowserContext] = []
    under_way: set[Request] = set()

    def open_for(user: User, **context: Any) -> Page:
        page = page_for(user, **context)
        page.context.on("request", lambda request: "/api/" in request.url and under_way.add(request))
        page.context.on("requestfinished", lambda request: under_way.discard(request))
        page.context.on("requestfailed", lambda request: under_way.discard(request))
        page.context.on("page", lambda opened: opened.on("close", lambda _: under_way.clear()))
        page.on("close", lambda _: under_way.clear())  # a closed page tells no more of its requests
        page.context.on("weberror", lambda error: errors.append(str(error.error)))
        contexts.append(page.context)
        return page

    yield open_for
    for context in contexts:
        quiet = 0
        while context.pages and quiet < 5:  # one answer may lead to the next request
            context.pages[0].wait_for_timeout(20)
            quiet = 0 if under_way else quiet + 1
        context.set_offline(True)  # a page that is closed saves its draft once more
        context.close()
    assert errors == []
