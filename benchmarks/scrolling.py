"""How smoothly a long solution scrolls, and how soon a key is answered: real Chromium, the real server.

    python -m benchmarks.scrolling [--steps 8 30 100 500] [--keys 20] [--frames 240] [--pixels 60]

Opens a solution of so many steps, three formulas a step, rates `--keys` steps by keyboard, types as many letters into
a comment, then scrolls on by `--pixels` a frame, and back when the end is reached. A key's time runs from the press, as
the browser stamps it, to the first task after the frame that shows what it did; a frame's, from the beginning of one to
the beginning of the next. "Not typeset" counts frames that showed a step before its formulas were there; they are
looked for while scrolling once more, since looking costs time. "Boxes alone" is what a frame costs of a copy of the
page, typeset to its last step, that no script has a hand in and no second solution stands behind. "Of the thread" is
what a frame takes of the page's own thread while it has a core: other work on the machine disturbs that less.
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
# Scrolls, and with `looks` counts the frames with a step that is not typeset.
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
# Puts a copy of the page in its place, every step of it with the text of one that is typeset.
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
REST_MS = 2_000  # until what was scrolled past is as it was before


@dataclass(frozen=True)
class Scrolling:
    """Milliseconds of every frame, and of the page's own thread for one."""

    frames: list[float]
    of_thread: float


@dataclass(frozen=True)
class Measured:
    """Milliseconds of every key and letter, what scrolling took, and the frames with a step not typeset."""

    keys: list[float]
    letters: list[float]
    scrolling: Scrolling
    bare: int
    boxes: Scrolling


def answered(page: Any, key: str, presses: int) -> list[float]:
    """Milliseconds of every press of a key."""
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
    """Median, 95th percentile and the most."""
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
