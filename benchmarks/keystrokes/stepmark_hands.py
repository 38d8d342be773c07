"""Labelling in our workbench: a key a step, `e` on the first wrong one."""

from collections.abc import Mapping

from playwright.sync_api import Page

from benchmarks.keystrokes.hands import Hands, Labelled
from benchmarks.label_studio.solutions import Solution

BY_KEYS, SHORTEST = "keys alone", "mouse and keys"
WAYS = (BY_KEYS, SHORTEST)
PATIENCE_MS = 120_000


def label(page: Page, project: str, solutions: Mapping[str, Solution], way: str) -> list[Labelled]:
    """Label all of the project's queue, which leaves out held-out problems; `solutions` by the first sentence."""
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
            # The next one, or the page that says that nothing is left: in either case this problem is gone.
            page.locator("section.problem", has_text=_first(one)).wait_for(state="detached", timeout=PATIENCE_MS)
        done.append(labelled)
    page.locator("[data-saved=saved]").wait_for(timeout=PATIENCE_MS)
    return done


def _rate(hands: Hands, one: Solution, way: str) -> None:
    if one.wrong < 0:
        for _ in one.steps:
            hands.press("1")
    elif way == SHORTEST:
        if one.wrong > 0:
            hands.click(hands.page.locator("li.step").nth(one.wrong).locator(".text"))
        hands.press("e")
    else:
        for _ in range(one.wrong):
            hands.press("1")
        hands.press("3")


def _first(one: Solution) -> str:
    return one.problem.partition(".")[0]
