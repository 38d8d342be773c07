"""Measures how soon the workbench takes keys after a request, and the size of its script, in Chromium.

    python -m benchmarks.opening [--steps 8 500] [--openings 10]

Opens the workbench with an empty browser cache. Times run from the request of the page until the current step has the
focus, and keys work, and until the formulas near the screen are typeset. The size of scripts is measured gzipped.
"""

import argparse
import gzip
import statistics
from typing import Any

from benchmarks.workbench_stage import PATIENCE_MS, Place, Stage, workbench_stage

WATCH = """(() => {
    const look = () => {
        const there = (what) => document.querySelector(`.shown ${what}`) !== null;
        const now = performance.now();
        if (there(".step.current:focus")) window.takesKeys ??= now;
        if (there(".katex") && !there("code.source")) window.typeset ??= now;
        if (!window.takesKeys || !window.typeset) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})()"""
SCRIPTS = "() => performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /[.]js$/.test(name))"


def opened(stage: Stage, at: Place) -> tuple[float, float]:
    """Milliseconds until keys work, and until formulas are typeset."""
    with stage.page(at, watch=WATCH) as page:
        page.wait_for_function("() => window.takesKeys && window.typeset", timeout=PATIENCE_MS)
        return page.evaluate("window.takesKeys"), page.evaluate("window.typeset")


def weight(stage: Stage, at: Place) -> tuple[int, int]:
    """Gzipped bytes of the script that opening a solution fetches: without KaTeX, and of KaTeX."""
    with stage.page(at) as page:
        addresses = page.evaluate(SCRIPTS)
        sizes = {address: len(gzip.compress(page.request.get(address).body())) for address in addresses}
    katex = sum(size for address, size in sizes.items() if "/typeset-" in address)
    return sum(sizes.values()) - katex, katex


def row(steps: int, times: list[tuple[float, float]]) -> str:
    cells: list[Any] = [f"{steps:,}", len(times)]
    for of in zip(*times, strict=True):
        p95 = statistics.quantiles(of, n=20, method="inclusive")[-1]
        cells += [f"{time:.0f}" for time in (statistics.median(of), p95, max(of))]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[8, 500])
    parser.add_argument("--openings", type=int, default=10)
    arguments = parser.parse_args()
    with workbench_stage() as stage:
        places = [stage.fill(steps, 1) for steps in arguments.steps]
        own, katex = weight(stage, places[0])
        print(f"Script, gzipped: {own / 1000:.1f} KB, and KaTeX {katex / 1000:.1f} KB\n")
        print("| steps | openings | takes keys p50 ms | p95 | most | typeset p50 ms | p95 | most |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for place in places:
            print(row(place.steps, [opened(stage, place) for _ in range(arguments.openings)]), flush=True)


if __name__ == "__main__":
    main()
