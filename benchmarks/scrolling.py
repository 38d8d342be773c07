"""Measures how smoothly a long solution scrolls, and how soon a key takes effect, in Chromium.

    python -m benchmarks.scrolling [--steps 8 30 100 500] [--keys 20] [--frames 240] [--pixels 60]

Opens a solution of `--steps` steps with three formulas each, rates `--keys` steps by keyboard, types as many letters
into a comment, and scrolls by `--pixels` a frame, back again at the end. The time of a key runs from the browser's time
stamp of the press to the first task after the frame that shows its effect; that of a frame, to the start of the next
one. "Not typeset" counts frames that show a step before its formulas; they are counted while scrolling a second time,
because counting costs time. "Boxes alone" is the time of a frame of a copy of the page that is typeset to its end,
without scripts and without a prefetched solution. "Of the thread" is the processor time of the page's thread for a
frame, which other work on the machine disturbs less.
"""

import argparse
import statistics
from dataclasses import dataclass
from typing import Any

from benchmarks.workbench_stage import PATIENCE_MS, Place, Stage, workbench_stage

WATCH_KEYS = """() => {
    window.answered = [];
    addEventListener("keydown", (event) => {
        requestAnimationFrame(() => {
            const after = new MessageChannel();
            after.port1.onmessage = () => window.answered.push(performance.now() - event.timeStamp);
            after.port2.postMessage(null);
        });
    }, true);
}"""
# Scrolls. With `looks`, also counts the frames with a step that is not typeset.
SCROLL = """([frames, pixels, looks]) => new Promise((done) => {
    const times = [];
    let bare = 0;
    const { x, width } = document.querySelector(".shown").getBoundingClientRect();
    const isBare = (part) => {
        const step = document.elementFromPoint(x + width / 2, part * innerHeight)?.closest(".step");
        return step?.querySelector(".far") != null;
    };
    scrollTo(0, 0);
    const frame = (now) => {
        times.push(now);
        if (looks && [0.15, 0.5, 0.8].some(isBare)) bare += 1;
        if (times.length > frames) {
            return done({ bare, gaps: times.slice(1).map((time, index) => time - times[index]) });
        }
        if (scrollY + innerHeight + 1 >= document.documentElement.scrollHeight) pixels = -Math.abs(pixels);
        if (scrollY <= 0) pixels = Math.abs(pixels);
        scrollBy(0, pixels);
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
})"""
# Replaces the page by a copy in which every step has the text of a typeset one.
LEAVE_BOXES_ALONE = """() => {
    const page = document.getElementById("workbench");
    const copy = page.cloneNode(true);
    const typeset = [...copy.querySelectorAll(".shown .text")].filter((text) => text.querySelector(".katex"));
    copy.querySelector(".sheet:not(.shown)")?.remove();
    copy.querySelectorAll(".far").forEach((far, index) => {
        far.parentElement.replaceChildren(typeset[index % typeset.length].firstElementChild.cloneNode(true));
    });
    page.replaceWith(copy);
}"""
REST_MS = 2_000  # until the steps outside the screen are as before


@dataclass(frozen=True)
class Scrolling:
    """Milliseconds of every frame, and of the page's thread for one frame."""

    frames: list[float]
    of_thread: float


@dataclass(frozen=True)
class Measured:
    """Milliseconds of every key and letter, the times of scrolling, and the frames with a step that is not typeset."""

    keys: list[float]
    letters: list[float]
    scrolling: Scrolling
    bare: int
    boxes: Scrolling


def answered(page: Any, key: str, presses: int) -> list[float]:
    """Milliseconds of every key press."""
    page.evaluate("() => { window.answered = []; }")
    for number in range(presses):
        page.keyboard.press(key)
        page.wait_for_function("n => window.answered.length > n", arg=number, timeout=PATIENCE_MS)
    times: list[float] = page.evaluate("window.answered")
    return times


def measured(stage: Stage, at: Place, arguments: Any) -> Measured:
    with stage.page(at) as page:
        thread = page.context.new_cdp_session(page)
        thread.send("Performance.enable", {"timeDomain": "threadTicks"})

        def worked() -> float:
            metrics = thread.send("Performance.getMetrics")["metrics"]
            return 1_000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

        def scrolled(looks: bool) -> tuple[Scrolling, int]:
            page.wait_for_timeout(REST_MS)
            before = worked()
            found = page.evaluate(SCROLL, [arguments.frames, arguments.pixels, looks])
            return Scrolling(found["gaps"], (worked() - before) / arguments.frames), found["bare"]

        page.locator(f".sheet:not(.shown) .step:nth-child({at.steps})").wait_for(state="attached", timeout=PATIENCE_MS)
        page.evaluate(WATCH_KEYS)
        keys = answered(page, "1", min(arguments.keys, at.steps - 1))
        page.keyboard.press("c")
        page.locator(".shown .current textarea").wait_for()
        letters = answered(page, "x", arguments.keys)
        page.keyboard.press("Escape")
        scrolling, _ = scrolled(looks=False)
        _, bare = scrolled(looks=True)
        page.evaluate(LEAVE_BOXES_ALONE)
        boxes, _ = scrolled(looks=False)
        return Measured(keys, letters, scrolling, bare, boxes)


def row(steps: int, of: Measured) -> str:
    def cost(scrolling: Scrolling) -> list[str]:
        return [*spread(scrolling.frames), f"{scrolling.of_thread:.1f}"]

    cells = [f"{steps:,}", *spread(of.keys), *spread(of.letters), *cost(of.scrolling), str(of.bare), *cost(of.boxes)]
    return f"| {' | '.join(cells)} |"


def spread(times: list[float]) -> list[str]:
    """Median, 95th percentile and maximum."""
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return [f"{time:.0f}" for time in (statistics.median(times), p95, max(times))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="+", default=[8, 30, 100, 500])
    parser.add_argument("--keys", type=int, default=20)
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--pixels", type=int, default=60, help="scrolled in a frame")
    arguments = parser.parse_args()
    with workbench_stage() as stage:
        places = [stage.fill(steps, 1) for steps in arguments.steps]
        time = "p50 ms | p95 | most"
        cost = f"{time} | of the thread"
        print(f"| steps | key {time} | letter {time} | frame {cost} | not typeset | boxes alone {cost} |")
        print(f"|{'---:|' * 16}", flush=True)
        for place in places:
            print(row(place.steps, measured(stage, place, arguments)), flush=True)


if __name__ == "__main__":
    main()
