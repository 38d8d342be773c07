"""The next solution is rendered behind the one on the screen, hidden from everybody until it is shown complete."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Membership
from tests.browser.workbench import open_workbench, problem_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = 5
BEHIND = ".sheet:not(.shown)"
# In the turn of the page in which Enter is heard: which of the steps that stood ready are the ones shown, and how.
SHOW = """steps => {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    const shown = [...document.querySelectorAll(".shown .step")];
    return {
        same: shown.length === steps.length && shown.every((step, index) => step === steps[index]),
        formulas: shown.map((step) => step.querySelectorAll(".katex-html").length),
        heights: shown.map((step) => step.checkVisibility() && step.getBoundingClientRect().height > 0),
        focused: document.activeElement === shown[0],
    };
}"""


@pytest.fixture
def workbench(open_for: Callable[..., Page]) -> Page:
    """The first of two solutions, the second of which stands ready; it says "Beta" and a formula in each step."""
    generation = GenerationFactory()
    for number, name in enumerate(("Alpha", "Beta"), start=1):
        text = f"Problem {number}: what is it?"
        steps = [f"{name} has $x_{{{n}}} = {n}$ here." for n in range(STEPS)]
        QueueItemFactory(generation=generation, rank=number, solution__problem__text=text, solution__steps=steps)
    member = MembershipFactory(project=generation.project, role=Membership.Role.ANNOTATOR)
    page = open_for(member.user)
    open_workbench(page, generation.project)
    expect(page.locator(f"{BEHIND} .step .katex-html")).to_have_count(STEPS)
    return page


def names_of(nodes: list[dict[str, Any]]) -> str:
    return " ".join(str(node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"])


def test_what_stands_ready_is_there_for_nobody(workbench: Page) -> None:
    tree = workbench.context.new_cdp_session(workbench).send("Accessibility.getFullAXTree")
    assert "Alpha" in names_of(tree["nodes"])
    assert "Beta" not in names_of(tree["nodes"])
    expect(workbench.locator(BEHIND).get_by_text("Beta has").first).not_to_be_visible()
    found = "text => { getSelection().removeAllRanges(); return find(text, true, false, true); }"
    assert workbench.evaluate(found, "Alpha")
    assert not workbench.evaluate(found, "Beta")
    for _ in range(30):
        workbench.keyboard.press("Tab")
        assert not workbench.evaluate("behind => document.activeElement.closest(behind) !== null", BEHIND)
    focused = workbench.evaluate(f"""() => {{
        document.querySelector("{BEHIND} .step").focus();
        return document.activeElement.closest("{BEHIND}") !== null;
    }}""")
    assert not focused


def test_what_stood_ready_is_shown_complete_in_the_turn_of_the_key(workbench: Page) -> None:
    steps = workbench.evaluate_handle(f"() => [...document.querySelectorAll('{BEHIND} .step')]")
    workbench.keyboard.press("e")
    assert workbench.evaluate(SHOW, steps) == {
        "same": True,
        "formulas": [1] * STEPS,
        "heights": [True] * STEPS,
        "focused": True,
    }
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(workbench.locator(".sheet")).to_have_count(1)
    workbench.keyboard.press("1")
    expect(workbench.locator(".shown .step").first).to_have_attribute("data-answer", "good")
