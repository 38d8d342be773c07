"""Pages by keyboard and screen reader alone: the order of Tab, visible focus, returned focus, and announcements."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from annotation.models import Project
from tests.browser.walk import faults_of_walk
from tests.browser.workbench import next_in_hand, open_workbench, problem_of, step
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MembershipFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db(transaction=True)

SCHEME = {
    "stop_at_first_error": False,
    "error_types": [{"name": "slip", "help": "The rule is right."}],
    "policy_clauses": ["2.1"],
    "consistency": True,
    "redundancy": True,
    "critique": "written",
}
TWICE_AS_LARGE = 640  # a window of 1,280 pixels at 200 %


@pytest.fixture
def project() -> Project:
    generation = GenerationFactory(project__slug="algebra", project__scheme=SCHEME, project__guidelines="Be **fair**.")
    for n in (1, 2):
        QueueItemFactory(
            generation=generation,
            rank=n,
            solution__problem__text=f"Problem {n}: what is $2 + 2$?",
            solution__problem__reference_answer="4",
            solution__steps=["We add.", "2 + 2 = 5.", "5."],
        )
    return generation.project


@pytest.fixture
def manager(project: Project) -> User:
    return MembershipFactory(project=project, role="manager").user


def focused(page: Page) -> Locator:
    return page.locator(":focus")


def heard(page: Page) -> Locator:
    """The live region of the workbench."""
    return page.locator("#workbench > .visually-hidden[role=status]")


def test_tab_goes_through_every_page_as_the_eye_does_and_is_seen_wherever_it_is(
    project: Project, manager: User, open_for: Callable[..., Page], new_context: Callable[..., object]
) -> None:
    """In both themes. Nothing moves, and nothing is cut off at 200 %."""
    judged = SolutionFactory(project=project, steps=["We add.", "So 5."])
    for _ in range(2):
        AnnotationFactory(solution=judged)
    page = open_for(manager, reduced_motion="reduce")
    open_workbench(page, project)
    for key in ("1", "3", "k", "p", "Escape", "c"):
        page.keyboard.press(key)
    expect(step(page, 2).get_by_role("textbox", name="Comment: Step 2")).to_be_focused()
    told = faults_of_walk(page)
    for width in (TWICE_AS_LARGE, 2560):
        page.set_viewport_size({"width": width, "height": 450})
        if (pixels := page.evaluate("document.documentElement.scrollWidth")) > width:
            told.append(f"the workbench is {pixels} pixels wide at {width}")
    for address in (f"/p/algebra/review/{judged.pk}/", "/p/algebra/settings/", "/p/algebra/my-work/"):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(address)
        told += [f"{address} {fault}" for fault in faults_of_walk(page)]
    page.context.clear_cookies()
    page.goto("/accounts/login/")
    told += [f"sign-in: {fault}" for fault in faults_of_walk(page)]
    assert not told, "\n".join(told)


def test_what_is_closed_gives_the_keyboard_back_to_what_opened_it(
    project: Project, manager: User, open_for: Callable[..., Page]
) -> None:
    page = open_for(manager)
    open_workbench(page, project)
    page.keyboard.press("Tab")  # from the first step
    page.keyboard.press("?")
    expect(page.get_by_role("region", name="Keys")).to_be_focused()
    page.keyboard.press("Escape")
    expect(focused(page)).to_have_text("good1")

    for name in ("Guidelines", "Skip"):
        opener = page.get_by_role("button", name=name, exact=True)
        opener.focus()
        page.keyboard.press("Enter")
        expect(opener).not_to_be_focused()
        page.get_by_role("button", name="Close" if name == "Guidelines" else "Cancel").focus()
        page.keyboard.press("Enter")
        expect(opener).to_be_focused()

    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(page.get_by_role("textbox", name="Or in your own words")).to_be_focused()
    page.keyboard.press("Escape")
    expect(step(page, 2)).to_be_focused()
    page.set_viewport_size({"width": 1280, "height": 320})  # less than a step is high
    page.keyboard.press("p")
    clause = page.get_by_role("button", name="2.1", exact=True)
    expect(clause).to_be_focused()
    foot = page.locator(".action-bar").evaluate("one => one.getBoundingClientRect().top")
    assert clause.evaluate("one => one.getBoundingClientRect().bottom") < foot, "it is not behind the foot"
    page.keyboard.press("Escape")
    expect(step(page, 2)).to_be_focused()
    expect(page.get_by_role("group", name="Breaks a clause")).to_have_count(0)


def test_a_screen_reader_hears_what_was_done_and_what_comes(
    project: Project, manager: User, open_for: Callable[..., Page]
) -> None:
    page = open_for(manager)
    open_workbench(page, project)
    expect(step(page, 1)).to_have_accessible_description("We add.")
    page.keyboard.press("1")
    expect(heard(page)).to_have_text("Step 1: good. 2 steps left to rate.")
    page.keyboard.press("z")
    expect(heard(page)).to_have_text("Step 1: not rated. 3 steps left to rate.")
    for _ in range(2):  # said again: a node of its own each time
        page.locator("#workbench").evaluate(
            "() => document.querySelector('.visually-hidden[role=status] p').id = 'told'"
        )
        page.keyboard.press("Enter")
        expect(heard(page)).to_have_text("Not ready yet. 3 steps left to rate")
        expect(page.locator("#told")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("2 + 2")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 of 1")
    page.keyboard.press("Escape")
    expect(step(page, 2)).to_be_focused()
    for key in ("k", "1", "1", "1"):
        page.keyboard.press(key)
    expect(next_in_hand(page)).to_be_visible()
    page.keyboard.press("Enter")
    expect(problem_of(page)).to_contain_text("Problem 2:")
    expect(heard(page)).to_have_text("Submitted. Next solution, 3 steps.")
    expect(step(page, 1)).to_be_focused()
