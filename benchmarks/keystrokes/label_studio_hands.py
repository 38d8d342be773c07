"""Labelling on Label Studio's own page: the hotkeys that it gives the choices of a Repeater, the mouse beyond them."""

import re
from collections.abc import Mapping

from playwright.sync_api import Locator, Page

from benchmarks.keystrokes.hands import Hands, Labelled
from benchmarks.label_studio.solutions import Solution, ratings

BY_KEYS, BY_MOUSE = "its hotkeys, the mouse where they end", "mouse, keys to submit"
WAYS = (BY_KEYS, BY_MOUSE)
PATIENCE_MS = 180_000
CHOICES = ("good", "neutral", "bad")
NAMES = {1: "good", 0: "neutral", -1: "bad"}


def label(page: Page, project: str, solutions: Mapping[str, Solution], way: str) -> list[Labelled]:
    """Label all of the project's tasks; `solutions` by the problem's first sentence."""
    hands, done = Hands(page), []
    _sign_in(page)
    page.goto(f"/projects/{project}/data?labeling=1", timeout=PATIENCE_MS)
    for _ in solutions:
        problem = page.get_by_text("club has")
        text = problem.first.inner_text(timeout=PATIENCE_MS)
        first, one = next((first, one) for first, one in solutions.items() if first in text)
        _choice(page, len(one.steps) - 1, 1).wait_for(timeout=PATIENCE_MS)
        with hands.on(one.number, len(one.steps)) as labelled:
            for place, rating in enumerate(ratings(one)):
                _rate(hands, _choice(page, place, rating), by_keys=way == BY_KEYS)
            _repeat_what_was_lost(page, one)
            hands.press("Control+Enter")
            page.get_by_text(first).first.wait_for(state="detached", timeout=PATIENCE_MS)
            _wait_for_next(page)
        done.append(labelled)
    return done


def _sign_in(page: Page) -> None:
    page.goto("/user/login/", timeout=PATIENCE_MS)
    page.fill("[name=email]", "user1@example.com")
    page.fill("[name=password]", "benchmark")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"^(?!.*login)"), timeout=PATIENCE_MS)


def _choice(page: Page, place: int, rating: int) -> Locator:
    """The label around the radio button of a rating; it shows the hotkey where there is one."""
    choices = page.locator("label.lsf-choice__checkbox")
    return choices.nth(len(CHOICES) * place + CHOICES.index(NAMES[rating]))


def _rate(hands: Hands, choice: Locator, *, by_keys: bool) -> None:
    hint = re.search(r"\[(.+)\]", choice.inner_text())
    if by_keys and hint:
        hands.press("+".join(key.capitalize() if len(key) > 1 else key for key in hint[1].split("+")))
    else:
        hands.click(choice)


def _repeat_what_was_lost(page: Page, one: Solution) -> None:
    """A key that came before the editor listened is pressed again by clicking, and is not counted a second time."""
    for place, rating in enumerate(ratings(one)):
        _choice(page, place, rating).locator("input").check()


def _wait_for_next(page: Page) -> None:
    """Until the next task can be worked on, or the page says that there is none."""
    page.locator("label.lsf-choice__checkbox").or_(
        page.get_by_text(re.compile("no more|all done|labeled all|You've", re.I))
    ).first.wait_for(timeout=PATIENCE_MS)
