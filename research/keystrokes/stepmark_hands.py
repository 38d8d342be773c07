"""Labels in our workbench: one key a step, or steps accepted together up to the first wrong one or the end."""

import re
from collections.abc import Mapping

from playwright.sync_api import Locator, Page

from benchmarks.label_studio.solutions import Solution
from research.keystrokes.hands import Hands, Labelled

BY_STEP, BY_KEYS, BY_MOUSE = "keys, a step at a time", "keys, steps accepted together", "mouse and keys, together"
WAYS = (BY_STEP, BY_KEYS, BY_MOUSE)
STEP_BY_STEP = 2  # steps; up to here, `j` needs no more keys than `q` and a number
PATIENCE_MS, SCROLLED_MS = 120_000, 300
WHEEL_PX = 600  # less than a screen, so that the end of every step is visible once
READ_ON = re.compile(r"^Read on")


def label(page: Page, project: str, solutions: Mapping[str, Solution], way: str) -> list[Labelled]:
    """Label the project's whole queue, which leaves out reserved problems; `solutions` by the first sentence."""
    hands, done = Hands(page), []
    page.goto(f"/p/{project}/label/")
    problem, nothing = page.locator("section.problem", has_text="club has"), page.get_by_text("Nothing left to label")
    while True:
        problem.or_(nothing).first.wait_for(timeout=PATIENCE_MS)
        if not problem.count():
            break
        text = problem.inner_text()
        one = next(one for sentence, one in solutions.items() if sentence in text)
        page.locator("[data-next=in-hand], [data-next=awaited]").wait_for(timeout=PATIENCE_MS)
        with hands.on(one.number, len(one.steps)) as labelled:
            _rate(hands, one, way)
            hands.press("Enter")
            # The next one, or the page at the end of the queue: in both cases this problem has disappeared.
            page.locator("section.problem", has_text=_first(one)).wait_for(state="detached", timeout=PATIENCE_MS)
        done.append(labelled)
    page.locator("[data-saved=saved]").wait_for(timeout=PATIENCE_MS)
    return done


def _rate(hands: Hands, one: Solution, way: str) -> None:
    if way == BY_STEP:
        for _ in one.steps if one.wrong < 0 else one.steps[: one.wrong]:
            hands.press("1")
        if one.wrong >= 0:
            hands.press("3")
    elif one.wrong < 0:
        while not _accepts(hands, "0"):
            pass
    else:
        _go(hands, one.wrong, way)
        while not _accepts(hands, "e"):
            _go(hands, one.wrong, way)


def _accepts(hands: Hands, key: str) -> bool:
    """Press a key that accepts the steps; returns False if it scrolls to steps that were not shown yet."""
    readiness = hands.page.locator("#readiness")
    before = readiness.inner_text()
    hands.press(key)
    readiness.filter(has_not_text=before).wait_for(timeout=PATIENCE_MS)
    return READ_ON.search(readiness.inner_text()) is None


def _go(hands: Hands, wrong: int, way: str) -> None:
    """Go to the wrong step through all steps before it: by the wheel, which does not count, or by keys."""
    text = hands.page.locator(".shown li.step").nth(wrong).locator(".text")
    while not _in_sight(text):
        if way == BY_MOUSE:
            hands.page.mouse.wheel(0, WHEEL_PX)
        else:
            hands.press("PageDown")
        hands.page.wait_for_timeout(SCROLLED_MS)
    if way == BY_MOUSE:
        if wrong > 0:
            hands.click(text)
    elif wrong <= STEP_BY_STEP:
        for _ in range(wrong):
            hands.press("j")
    else:
        for key in ("q", *str(wrong + 1)):
            hands.press(key)


def _in_sight(text: Locator) -> bool:
    """Whether the end of a text is on the screen, above the foot of the page."""
    foot = text.page.locator(".action-bar").bounding_box()
    place = text.bounding_box()
    return foot is not None and place is not None and place["y"] + place["height"] <= foot["y"]


def _first(one: Solution) -> str:
    return one.problem.partition(".")[0]
