"""The setup for measurements of the workbench: Chromium, the web server, and projects with many formulas."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PATIENCE_MS = 120_000
STEP = (
    "Since $a_{{{n}}} = \\frac{{{n}x + 1}}{{\\sqrt{{x^2 + {m}}}}}$, we may write $$\\sum_{{k=1}}^{{{n}}} k^2 x^{{k-1}}"
    " = \\int_0^{{{m}}} \\left(1 + \\frac{{t}}{{{n}}}\\right)^{{{n}}} \\, dt,$$ and so $x \\equiv {m} \\pmod{{{n}7}}$."
)


@dataclass(frozen=True)
class Place:
    """A project whose solutions have a number of steps, and the session of one of its annotators."""

    slug: str
    session: str
    steps: int


class Stage:
    """The server at `url`, and a Chromium for its pages."""

    def __init__(self, url: str, browser: Any) -> None:
        self._url, self._browser = url, browser

    def fill(self, steps: int, solutions: int) -> Place:
        """A project with this number of solutions in its queue, and one more to prefetch after the last."""
        from django.conf import settings
        from django.db import connections
        from django.test import Client

        from tests.factories import (
            GenerationFactory,
            MembershipFactory,
            ProblemFactory,
            QueueItemFactory,
            SolutionFactory,
        )

        generation = GenerationFactory(project__policy={"queue": {"prefetch_depth": 1}, "gold": {"share": 0}})
        for number in range(solutions + 1):
            problem = ProblemFactory(project=generation.project, text=f"Problem {number}: find $x$.")
            texts = [STEP.format(n=number + 2, m=position + 3) for position in range(steps)]
            solution = SolutionFactory(project=generation.project, problem=problem, steps=texts)
            QueueItemFactory(generation=generation, solution=solution, rank=number)
        person = Client()
        person.force_login(
            MembershipFactory(project=generation.project).user, backend=settings.AUTHENTICATION_BACKENDS[0]
        )
        connections.close_all()
        return Place(generation.project.slug, person.cookies[settings.SESSION_COOKIE_NAME].value, steps)

    @contextmanager
    def page(self, at: Place, watch: str = "") -> Iterator[Any]:
        """The workbench of a project, 1280 by 800, with a typeset first solution; `watch` runs before its script."""
        from django.conf import settings

        context = self._browser.new_context(base_url=self._url, viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": at.session, "url": self._url}])
        context.add_init_script(watch)
        page = context.new_page()
        page.goto(f"/p/{at.slug}/label/")
        page.locator(".shown .katex").first.wait_for(timeout=PATIENCE_MS)
        yield page
        context.close()


@contextmanager
def workbench_stage() -> Iterator[Stage]:
    """Build the front end; run PostgreSQL and Redis in a temporary folder, the web server and Chromium."""
    from launch import frontend
    from launch.chromium import find_chromium
    from launch.embedded import servers

    frontend.build()
    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), external={}) as addresses:
        os.environ.update(
            addresses,
            VAR_DIR=folder,
            DJANGO_SETTINGS_MODULE="config.settings.test",
            DJANGO_ALLOW_ASYNC_UNSAFE="1",  # playwright's event loop runs in this thread
        )
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections
        from playwright.sync_api import sync_playwright

        call_command("migrate", verbosity=0)
        connections.close_all()
        with _web_server() as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
            yield Stage(url, browser)
            browser.close()


@contextmanager
def _web_server() -> Iterator[str]:
    """Run the platform's web server, as it is deployed, on a free port."""
    from launch.tether import tethered

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gunicorn = str(Path(sys.executable).parent / "gunicorn")
    options = ["--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--threads", "8", "--no-control-socket"]
    server = subprocess.Popen(tethered([gunicorn, "config.wsgi", *options]), cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/accounts/login/", timeout=60)
                break
            except urllib.error.HTTPError:
                break
            except OSError:  # not listening yet, or too busy
                assert server.poll() is None, "the web server ended"
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
