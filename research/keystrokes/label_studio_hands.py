"""Labels on Label Studio's page: with the hotkeys of a Repeater's choices, and the mouse for those without one."""

import re
from collections.abc import Mapping

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as Overdue

from benchmarks.label_studio.solutions import Solution, ratings
from research.keystrokes.hands import Hands, Labelled

BY_KEYS, BY_MOUSE = "its hotkeys, the mouse where they end", "mouse, a key to submit"
GOOD_AT_FIRST = "its hotkeys, every step good at first"
WAYS = (BY_KEYS, BY_MOUSE, GOOD_AT_FIRST)
PATIENCE_MS, NOTICED_MS = 180_000, 2_000
CHOICES = (1, 0, -1)  # as `label_config.xml` lists them for a step
# On a page with many Repeater choices, all those of one name are one radio group: only the class shows what is chosen,
# not the `checked` of the buttons.
CHOSEN = "ant-radio-wrapper-checked"
ALL_CHOSEN = f"""wanted => {{
    const choices = document.querySelectorAll("label.lsf-choice__checkbox");
    return wanted.every(place => choices[place]?.classList.contains("{CHOSEN}"));
}}"""


def label(page: Page, project: str, solutions: Mapping[str, Solution], way: str) -> list[Labelled]:
    """Label all of the project's tasks; `solutions` by the problem's first sentence."""
    hands, done = Hands(page), []
    _sign_in(page)
    page.goto(f"/projects/{project}/data?labeling=1", timeout=PATIENCE_MS)
    choices = page.locator("label.lsf-choice__checkbox")
    for _ in solutions:
        text = page.get_by_text("club has").first.inner_text(timeout=PATIENCE_MS)
        first, one = next((first, one) for first, one in solutions.items() if first in text)
        choices.nth(len(CHOICES) * len(one.steps) - 1).wait_for(timeout=PATIENCE_MS)
        keys = [_hotkey(shown) if way != BY_MOUSE else None for shown in choices.all_inner_texts()]
        with hands.on(one.number, len(one.steps)) as labelled:
            for place in _to_choose(one, way):
                if key := keys[place]:
                    hands.press(key)
                else:
                    hands.click(choices.nth(place))
            _put_right(choices, [_place(step, rating) for step, rating in enumerate(expected(one, way))])
            with page.expect_response(re.compile(r"/api/tasks/\d+/annotations"), timeout=PATIENCE_MS):
                hands.press("Enter")
            # The next task, or the page at the end of the queue: in both cases this problem has disappeared.
            page.get_by_text(first).first.wait_for(state="detached", timeout=PATIENCE_MS)
            if len(done) + 1 < len(solutions):
                choices.first.wait_for(timeout=PATIENCE_MS)
        done.append(labelled)
    return done


def expected(one: Solution, way: str) -> list[int]:
    """The ratings of a solution's steps that the platform should store, from the first step."""
    if way == GOOD_AT_FIRST:
        return [-1 if place == one.wrong else 1 for place in range(len(one.steps))]
    return ratings(one)


def _sign_in(page: Page) -> None:
    page.goto("/user/login/", timeout=PATIENCE_MS)
    page.fill("[name=email]", "user1@example.com")
    page.fill("[name=password]", "benchmark")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"^(?!.*login)"), timeout=PATIENCE_MS)


def _place(step: int, rating: int) -> int:
    """The index of a step's rating among all choices of the page."""
    return len(CHOICES) * step + CHOICES.index(rating)


def _to_choose(one: Solution, way: str) -> list[int]:
    """The choices that a person has to click or press; with every step good at first, only the wrong step."""
    return [_place(step, rating) for step, rating in enumerate(ratings(one)) if way != GOOD_AT_FIRST or rating < 0]


def _hotkey(shown: str) -> str | None:
    """The key in the text of a choice: `good[1]`."""
    match = re.search(r"\[(.)\]", shown)
    return match[1] if match else None


def _put_right(choices: Locator, wanted: list[int]) -> None:
    """Click the choices whose key came before the editor was ready, without counting them again."""
    try:
        choices.page.wait_for_function(ALL_CHOSEN, arg=wanted, timeout=NOTICED_MS)
    except Overdue:
        for place in wanted:
            if CHOSEN not in (choices.nth(place).get_attribute("class") or ""):
                choices.nth(place).click()
