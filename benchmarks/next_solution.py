"""Measures the time from Enter until the next solution is on the screen and typeset, in Chromium.

    python -m benchmarks.next_solution [--steps 8 30 100 500] [--solutions 20] [--slowdown 1 4] [--reading 1000]

Starts an embedded PostgreSQL, Redis and the web server in a temporary folder, labels `--solutions` solutions of
`--steps` steps with three formulas each by keyboard, and prints a Markdown table. The time runs from the browser's
time stamp of the key press to the first task of the page's queue after the frame that shows the next solution. Enter
follows the last rating after 150 ms. The last rating follows `--reading` milliseconds after the prefetched solution
has been rendered to its last step. `--slowdown` slows the browser's processor down by a factor.
"""

import argparse
import statistics
from typing import Any

from benchmarks.workbench_stage import PATIENCE_MS, Place, Stage, workbench_stage

BETWEEN_KEYS_MS = 150  # a fast person; the last rating has been rendered by then
# From the key press to the first task after the frame that shows its effect; `left` counts formulas to typeset.
MEASURE = """() => {
    window.shown = [];
    addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        requestAnimationFrame(() => {
            const after = new MessageChannel();
            after.port1.onmessage = () => {
                const left = document.querySelectorAll(".shown code.source").length;
                window.shown.push([performance.now() - event.timeStamp, left]);
            };
            after.port2.postMessage(null);
        });
    }, true);
}"""


def labelled(stage: Stage, at: Place, arguments: Any, slowdown: int) -> list[Any]:
    """`[milliseconds, formulas that are not typeset]` of every Enter."""
    with stage.page(at) as page:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowdown})
        page.evaluate(MEASURE)
        for number in range(arguments.solutions):
            page.locator("section.problem", has_text=f"Problem {number}:").wait_for(timeout=PATIENCE_MS)
            page.locator(f".sheet:not(.shown) .step:nth-child({at.steps})").wait_for(
                state="attached", timeout=PATIENCE_MS
            )
            page.wait_for_timeout(arguments.reading)
            page.keyboard.press("e")
            page.wait_for_timeout(BETWEEN_KEYS_MS)
            page.keyboard.press("Enter")
            page.wait_for_function("n => window.shown.length > n", arg=number, timeout=PATIENCE_MS)
        shown: list[Any] = page.evaluate("window.shown")
        return shown


def row(steps: int, slowdown: int, shown: list[Any]) -> str:
    times = [ms for ms, _ in shown]
    within = sum(ms <= 100 for ms in times) / len(times)
    cells = [f"{steps:,}", f"{slowdown} x", str(len(times)), f"{statistics.median(times):.0f}"]
    cells += [f"{statistics.quantiles(times, n=20, method='inclusive')[-1]:.0f}", f"{max(times):.0f}", f"{within:.0%}"]
    return f"| {' | '.join(cells)} | {sum(left for _, left in shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[8, 30, 100, 500])
    parser.add_argument("--solutions", type=int, default=20)
    parser.add_argument("--slowdown", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--reading", type=int, default=1_000, help="milliseconds before each Enter")
    arguments = parser.parse_args()

    with workbench_stage() as stage:
        tables = [(n, s, stage.fill(n, arguments.solutions)) for n in arguments.steps for s in arguments.slowdown]
        print("| steps | processor slower | solutions | p50 ms | p95 ms | most ms | within 100 ms | not typeset |")
        print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for steps, slowdown, at in tables:
            print(row(steps, slowdown, labelled(stage, at, arguments, slowdown)), flush=True)


if __name__ == "__main__":
    main()
