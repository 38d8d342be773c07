"""axe-core on the workbench with every panel open, in both themes, wide and narrow."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.workbench import open_workbench
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)

SCHEME = {
    "rate_alternatives": True,
    "ask_own_step": True,
    "ask_progress": True,
    "critique": "written",
    "error_types": [{"name": "slip", "help": "The rule is right.", "group": "Sums"}],
    "policy_clauses": ["2.1"],
    "consistency": True,
    "redundancy": True,
}
# What is pressed, one after the other, and what stands open then.
OPENED = {
    "what is asked at the first error": ("1", "3", "k", "j"),
    "a comment": ("c",),
    "what is marked in the text": ("Escape", "a", "a"),
    "clauses": ("Escape", "p"),
    "keys": ("Escape", "?"),
    "skipping": ("?", "s"),
    "search": ("Escape", "/"),
    "going to a step": ("Escape", "q"),
    "a break": ("Escape", "b"),
}


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_that_opens_in_the_workbench_is_out_of_anybodys_reach(
    open_for: Callable[..., Page], width: int
) -> None:
    generation = GenerationFactory(project__scheme=SCHEME, project__guidelines="Be **fair**.")
    QueueItemFactory(
        generation=generation,
        solution__problem__text="Problem 1: what is $2 + 2$?",
        solution__steps=["We add.", ["2 + 2 = 5.", "2 + 2 = $4$."], "So 5."],
    )
    user = MembershipFactory(project=generation.project).user
    page = open_for(user, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    open_workbench(page, generation.project)
    told = []
    for opened, keys in OPENED.items():
        for key in keys:
            page.keyboard.press(key)
        told += [f"{opened}: {fault}" for fault in violations(page)]
    expect(page.get_by_role("heading", name="On a break since")).to_be_visible()
    assert not told, "\n".join(told)
