"""Counts keys, clicks and seconds of a scripted person who labels the same solutions here and in Label Studio.

    python -m research.keystrokes [--solutions 50] [--environment FOLDER] [--port 8330] [--json FILE]

Both platforms run as in `benchmarks.label_studio`, and Chromium works on their pages. Label Studio's uses a Repeater.
A solution is rated up to its first wrong step, as in PRM800K's phase 2, and submitted; the stored ratings are compared.
The solutions are those that our queue offers: other problems are reserved for measuring and calibrating models. With
`--json` the results are stored, and a run with the same file measures what is missing. Prints a Markdown table.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import msgspec
from playwright.sync_api import Browser, sync_playwright

from benchmarks.label_studio.bench import FOLDER, Bench
from benchmarks.label_studio.report import machine
from benchmarks.label_studio.solutions import Solution, ratings, solution
from launch import frontend
from launch.chromium import find_chromium
from research.keystrokes import label_studio_hands, stepmark_hands
from research.keystrokes.hands import Labelled
from research.keystrokes.report import table

SIZE = {"width": 1280, "height": 900}


def main() -> None:
    """Measure all ways of both sides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solutions", type=int, default=50)
    parser.add_argument("--environment", type=Path, default=FOLDER / "environment", help="Label Studio's own")
    parser.add_argument("--port", type=int, default=8330, help="ours; Label Studio takes the next one")
    parser.add_argument("--json", type=Path, help="where to keep all that is measured")
    options = parser.parse_args()
    stored = options.json.read_bytes() if options.json and options.json.exists() else b"{}"
    measured = msgspec.json.decode(stored, type=dict[str, list[Labelled]])
    frontend.build()
    with (
        Bench(seconds=0, port=options.port, venv=options.environment, kept=None) as bench,
        sync_playwright() as playwright,
    ):
        work_of = map(solution, bench.ours.given_out(options.solutions))
        solutions = {one.problem.partition(".")[0]: one for one in work_of}
        browser = playwright.chromium.launch(executable_path=str(find_chromium()), args=["--no-sandbox"])
        for side, ways, work in (
            ("Stepmark", stepmark_hands.WAYS, _ours),
            ("Label Studio", label_studio_hands.WAYS, _theirs),
        ):
            for way in ways:
                if f"{side}/{way}" not in measured:
                    print(f"{side}, {way}...", flush=True)
                    measured[f"{side}/{way}"] = work(bench, browser, solutions, way)
                    if options.json:
                        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
        browser.close()
    print(f"\n{machine()}\n\n{table(measured)}")


def _ours(bench: Bench, browser: Browser, solutions: dict[str, Solution], way: str) -> list[Labelled]:
    side = bench.ours
    project = side.make_project(way, policy={"gold": {"share": 0}})
    side.take_in(project, side.content(_numbers(solutions), labelled=False))
    side.open_queue(project, len(solutions))
    context = browser.new_context(base_url=side.address, viewport=SIZE)
    name, value = side.session()
    context.add_cookies([{"name": name, "value": value, "url": side.address}])
    done = stepmark_hands.label(context.new_page(), project, solutions, way)
    context.close()
    _compare("Stepmark", side.ratings(project), {one.number: ratings(one) for one in solutions.values()})
    return done


def _theirs(bench: Bench, browser: Browser, solutions: dict[str, Solution], way: str) -> list[Labelled]:
    side = bench.theirs
    project = side.make_project(way, good_at_first=way == label_studio_hands.GOOD_AT_FIRST)
    side.take_in(project, side.content(_numbers(solutions), labelled=False))
    side.join(project)
    context = browser.new_context(base_url=side.address, viewport=SIZE)
    done = label_studio_hands.label(context.new_page(), project, solutions, way)
    context.close()
    expected = {one.number: label_studio_hands.expected(one, way) for one in solutions.values()}
    _compare("Label Studio", side.ratings(project), expected)
    return done


def _numbers(solutions: Mapping[str, Solution]) -> list[int]:
    return [one.number for one in solutions.values()]


def _compare(side: str, stored: Mapping[int, list[int]], sent: Mapping[int, list[int]]) -> None:
    if stored != sent:
        raise SystemExit(f"{side} stored other ratings than were sent: {stored}, not {sent}")


if __name__ == "__main__":
    main()
