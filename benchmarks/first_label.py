"""How long it takes from a clone to the first label on a file of one's own, and how many clicks.

python -m benchmarks.first_label           from a fresh clone with `make run`, downloads included
python -m benchmarks.first_label --here    with what is installed here, in a new data folder

A browser signs in as the demo's manager, makes a project of a file of two solutions, rates the first step and submits.
It does not think or read: the seconds of the pages are the machine's. A press of a button or of the file field is a
click; typing is none. Run it on a machine that does nothing else.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from benchmarks.start import RUN
from launch.chromium import find_chromium
from launch.options import BASE_DIR

MANAGER = "manager"
WAIT_MS = 120_000
OWN = [
    {"problem": "What is $12 \\cdot 15$?", "solution": "We split it: $12 \\cdot 15 = 120 + 50$.\n\nSo it is $170$."},
    {"problem": "What is $9 + 16$?", "solution": "We count on from $16$.\n\nSo it is $25$."},
]


class Stopwatch:
    """Seconds by part, and the clicks that were needed."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.clicks = 0
        self._begun = time.monotonic()

    def done(self, part: str) -> None:
        """The part is over; the next one begins."""
        now = time.monotonic()
        self.parts[part] = now - self._begun
        self._begun = now

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()


@contextmanager
def stepmark(command: Sequence[str], folder: Path, var: Path) -> Iterator[str]:
    """Start Stepmark, yield what it prints (its address and the accounts), and stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"VAR_DIR": str(var), "PORT": str(port), "DATABASE_URL": "", "REDIS_URL": ""}
    printed = list[str]()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if "Ctrl-C" in line:
                break
        else:
            sys.exit(f"The start in {folder} failed: its error is above.")
        drain = threading.Thread(target=process.stdout.read, daemon=True)
        drain.start()
        try:
            yield "".join(printed)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()
            drain.join()


def label_own_file(page: Page, watch: Stopwatch, printed: str, file: Path) -> None:
    """From the first page to the first label."""
    words = printed.split()
    page.goto(next(word for word in words if word.startswith("http")))
    page.get_by_label("User name").fill(MANAGER)
    page.get_by_label("Password").fill(words[words.index(MANAGER) + 1])
    watch.click(page.get_by_role("button", name="Sign in"))
    watch.click(page.get_by_role("link", name="New project"))
    chooser = page.get_by_label("Choose a file, or drop it here")
    expect(chooser).to_be_visible()
    watch.done("sign in and open New project")
    with page.expect_file_chooser() as chosen:
        watch.click(chooser)
    chosen.value.set_files(file)
    expect(page.locator("#import-preview .katex").first).to_be_visible()
    watch.done("see the file split into steps")
    watch.click(page.get_by_role("button", name="Create and label"))
    first = page.locator(".shown li.step").first
    expect(first).to_be_visible()
    watch.done("create the project and open the workbench")
    watch.click(first.get_by_role("button", name="bad").first)
    watch.click(page.get_by_role("button", name="Submit"))
    expect(page.get_by_text("1 today")).to_be_visible()
    watch.done("rate the first step and submit")


def measure(command: Sequence[str], folder: Path, var: Path, file: Path, watch: Stopwatch) -> None:
    with stepmark(command, folder, var) as printed, sync_playwright() as playwright:
        watch.done("install and start" if command != RUN else "start")
        browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        page = browser.new_page(locale="en-GB")
        page.set_default_timeout(WAIT_MS)
        label_own_file(page, watch, printed, file)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="without a clone and its downloads")
    options = parser.parse_args()
    expect.set_options(timeout=WAIT_MS)
    with tempfile.TemporaryDirectory(prefix="stepmark-first-label-") as made:
        folder = Path(made)
        file = folder / "own.jsonl"
        file.write_text("".join(json.dumps(record) + "\n" for record in OWN))
        watch = Stopwatch()
        if options.here:
            measure(RUN, BASE_DIR, folder / "var", file, watch)
        else:
            clone = folder / "stepmark"
            subprocess.run(["git", "clone", "--quiet", str(BASE_DIR), str(clone)], check=True)
            watch.done("clone")
            measure(["make", "run"], clone, clone / "var", file, watch)
    rows = [*watch.parts.items(), ("from nothing to the first label", sum(watch.parts.values()))]
    print("\n| part | seconds |\n|---|---|")
    for part, seconds in rows:
        print(f"| {part} | {seconds:.1f} |")
    print(f"\n{watch.clicks} clicks")


if __name__ == "__main__":
    main()
