"""The system's Chromium against Django's live server, with people signed in.

`page_for(user)` opens a page signed in as `user`, each in a browser context of its own; `page` and
`sign_in(page, user)` do the same in two steps; with `open_for(user)` an error of a script fails the test. Addresses
are relative to the live server: `page.goto("/")`.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import connections
from django.test import Client
from django_vite.core.asset_loader import DjangoViteAssetLoader
from playwright.sync_api import BrowserContext, Page, Request, expect

from launch import frontend
from launch.chromium import find_chromium
from tests.waiting import until

# Nothing but the live server is asked for anything.
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,SpareRendererForSitePerProcess",
    "--js-flags=--no-maglev,--no-turbofan",  # optimizing what runs for a second costs more than it saves
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
]

WAIT_MS = 60_000  # playwright's own five and thirty seconds may pass before a machine with other work has drawn a page
expect.set_options(timeout=WAIT_MS)


def _forget_connections() -> None:
    """Keep forked children off the parent's database connections.

    Beside playwright's running loop Django keeps a second set of connections. A child has no running loop, so
    it would find the set from before, which the parent cannot close from inside the loop.
    """
    for alias in connections:
        with suppress(AttributeError):  # none was opened
            del connections[alias]


os.register_at_fork(after_in_child=_forget_connections)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium; playwright's own download is not needed."""
    return browser_type_launch_args | {"executable_path": str(find_chromium()), "args": QUIET}


@pytest.fixture(scope="session")
def front_end() -> None:
    """The built front end; builds it if its sources have changed."""
    frontend.BUILT.parent.mkdir(parents=True, exist_ok=True)
    with (frontend.BUILT.parent / ".build.lock").open("w") as lock:  # one test process builds, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        frontend.build()
    settings.DJANGO_VITE["default"]["dev_mode"] = False
    DjangoViteAssetLoader._instance = None


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], live_server: Any, front_end: None) -> dict[str, Any]:
    """Every context opens the live server's pages."""
    return browser_context_args | {"base_url": live_server.url}


@pytest.fixture(autouse=True)
def _no_request_outlives_its_test(request: pytest.FixtureRequest, no_task_outlives_its_test: None) -> Iterator[None]:
    """Wait for the live server's last response, then for the tasks that it queued: closing the browser does not."""
    if "live_server" not in request.fixturenames:
        yield
        return
    yield
    # A thread serves each connection. A request that was only just sent has its thread before Django hears of it.
    until(lambda: not any("process_request_thread" in thread.name for thread in threading.enumerate()))


@pytest.fixture
def sign_in(live_server: Any) -> Callable[[Page, AbstractBaseUser], None]:
    """Sign a page's context in without going through the form."""

    def sign_in(page: Page, user: AbstractBaseUser) -> None:
        client = Client()
        client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])

    return sign_in


@pytest.fixture
def page_for(
    new_context: Callable[..., Any], sign_in: Callable[[Page, AbstractBaseUser], None]
) -> Callable[[AbstractBaseUser], Page]:
    """Open a page signed in as somebody; keyword arguments are those of a playwright context (viewport, ...)."""

    def page_for(user: AbstractBaseUser, **context: Any) -> Page:
        page: Page = new_context(**context).new_page()
        page.context.set_default_timeout(WAIT_MS)
        sign_in(page, user)
        return page

    return page_for


@pytest.fixture
def open_for(page_for: Callable[..., Page]) -> Iterator[Callable[..., Page]]:
    """`page_for`; a script error or a violation of the content security policy fails the test.

    All requests end before the next test begins.
    """
    errors: list[str] = []
    contexts: list[BrowserContext] = []
    under_way: set[Request] = set()

    def open_for(user: AbstractBaseUser, **context: Any) -> Page:
        page = page_for(user, **context)
        page.context.on("request", lambda request: "/api/" in request.url and under_way.add(request))
        page.context.on("requestfinished", lambda request: under_way.discard(request))
        page.context.on("requestfailed", lambda request: under_way.discard(request))
        page.context.on("page", lambda opened: opened.on("close", lambda _: under_way.clear()))
        page.on("close", lambda _: under_way.clear())  # a closed page tells no more of its requests
        page.context.on("weberror", lambda error: errors.append(str(error.error)))
        page.context.on("console", lambda said: "Content Security Policy" in said.text and errors.append(said.text))
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
