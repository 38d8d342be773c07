"""How long after Enter the next solution is on the screen, typeset: real Chromium, the real server.

    python -m benchmarks.next_solution [--steps 8 30 100 500] [--solutions 20] [--slowdown 1 4] [--reading 1000]

Starts an embedded PostgreSQL and Redis and the web server of its own in a temporary folder, labels `--solutions`
solutions of so many steps, three formulas a step, by keyboard, and prints a Markdown table. Time runs from the key
press, as the browser stamps it, to the frame that shows the next solution, which is when the next task of the page's
queue runs after that frame was drawn. Before each Enter the page is left alone for `--reading` milliseconds, in which
it fetches and typesets ahead. `--slowdown` has the browser's processor run so many times slower.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

STEP = (
    "Since $a_{{{n}}} = \\frac{{{n}x + 1}}{{\\sqrt{{x^2 + {m}}}}}$, we may write $$\\sum_{{k=1}}^{{{n}}} k^2 x^{{k-1}}"
    " = \\int_0^{{{m}}} \\left(1 + \\frac{{t}}{{{n}}}\\right)^{{{n}}} \\, dt,$$ and so $x \\equiv {m} \\pmod{{{n}7}}$."
)
# From the key press to the first task after the frame that shows what it did; `left` counts formulas not typeset yet.
MEASURE = """() => {
    window.shown = [];
    addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        requestAnimationFrame(() => {
            const after = new MessageChannel();
            after.port1.onmessage = () => {
                const left = document.querySelectorAll(".steps code.source").length;
                window.shown.push([performance.now() - event.timeStamp, left]);
            };
            after.port2.postMessage(null);
        });
    }, true);
}"""


def filled(steps: int, solutions: int) -> tuple[str, str]:
    """A project with so many solutions in its queue: its slug, and the session of an annotator."""
    from django.conf import settings
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
    browser = Client()
    person = MembershipFactory(project=generation.project).user
    browser.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return generation.project.slug, browser.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def web_server() -> Iterator[str]:
    """The platform's web server, as it is deployed, on a free port."""
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
            except urllib.error.URLError:
                assert server.poll() is None, "the web server ended"
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def labelled(browser: Any, url: str, cookie: str, at: tuple[str, str], arguments: Any, slowdown: int) -> list[Any]:
    """`[milliseconds, formulas not typeset]` of every Enter."""
    slug, session = at
    context = browser.new_context(base_url=url, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": cookie, "value": session, "url": url}])
    page = context.new_page()
    page.goto(f"/p/{slug}/label/")
    page.locator(".steps .katex").first.wait_for(timeout=120_000)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
    page.evaluate(MEASURE)
    for number in range(arguments.solutions):
        page.locator("section.problem", has_text=f"Problem {number}:").wait_for(timeout=120_000)
        page.locator("[data-next=in-hand]").wait_for(timeout=120_000)
        page.wait_for_timeout(arguments.reading)
        page.keyboard.press("e")
        page.keyboard.press("Enter")
        page.wait_for_function("n => window.shown.length > n", arg=number, timeout=120_000)
    shown: list[Any] = page.evaluate("window.shown")
    context.close()
    return shown


def row(steps: int, slowdown: int, shown: list[Any]) -> str:
    times = [ms for ms, _ in shown]
    within = sum(ms <= 100 for ms in times) / len(times)
    cells = [f"{steps:,}", f"{slowdown} x", str(len(times)), f"{statistics.median(times):.0f}"]
    cells += [f"{statistics.quantiles(times, n=20)[-1]:.0f}", f"{max(times):.0f}", f"{within:.0%}"]
    return f"| {' | '.join(cells)} | {sum(left for _, left in shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[8, 30, 100, 500])
    parser.add_argument("--solutions", type=int, default=20)
    parser.add_argument("--slowdown", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--reading", type=int, default=1_000, help="milliseconds before each Enter")
    arguments = parser.parse_args()

    from launch import frontend
    from launch.chromium import find_chromium
    from launch.embedded import servers

    frontend.build()
    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), given={}) as addresses:
        os.environ.update(addresses, VAR_DIR=folder, DJANGO_SETTINGS_MODULE="config.settings.test")
        import django

        django.setup()
        from django.conf import settings
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        tables = [(n, s, filled(n, arguments.solutions)) for n in arguments.steps for s in arguments.slowdown]
        connections.close_all()
        from playwright.sync_api import sync_playwright

        print("| steps | processor slower | solutions | p50 ms | p95 ms | most ms | within 100 ms | not typeset |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        with web_server() as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
            for steps, slowdown, at in tables:
                shown = labelled(browser, url, settings.SESSION_COOKIE_NAME, at, arguments, slowdown)
                print(row(steps, slowdown, shown), flush=True)
            browser.close()


if __name__ == "__main__":
    main()
