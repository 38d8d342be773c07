"""Accepting steps together: the rest once they were read, and those before an error that the annotator jumps to."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Membership, Project, StepRating
from tests.browser.workbench import open_workbench, problem_of, saved, step
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = 24


@pytest.fixture
def project() -> Project:
    """Two solutions that are longer than a screen."""
    generation = GenerationFactory()
    for number in (1, 2):
        QueueItemFactory(
            generation=generation,
            rank=number,
            solution__problem__text=f"Problem {number}: what is left?",
            solution__steps=[f"Step {place} of {STEPS}, which takes ${place}$ away." for place in range(1, STEPS + 1)],
        )
    return generation.project


@pytest.fixture
def workbench(open_for: Callable[..., Page], project: Project) -> Page:
    page = open_for(MembershipFactory(project=project, role=Membership.Role.ANNOTATOR).user)
    open_workbench(page, project)
    expect(step(page, 1).locator(".katex").first).to_be_visible()
    return page


def stored() -> list[tuple[str, int | None, bool]]:
    ratings = StepRating.objects.filter(annotation=Annotation.objects.get()).order_by("step__position")
    return [(rating.state, rating.rating, rating.accepted) for rating in ratings]


def test_no_more_errors_accepts_nothing_before_all_was_on_the_screen(workbench: Page) -> None:
    workbench.keyboard.press("0")
    note = workbench.locator("#readiness")
    expect(note).to_have_text(re.compile(r"Read on: you have not seen all of step \d+"))
    expect(workbench.get_by_role("status").filter(has_text="Read on")).to_have_count(1)
    assert workbench.locator(".shown li.step[data-answer=good]").count() == 0
    unread = workbench.locator(".shown li.step[aria-current=step]")
    until(lambda: unread.evaluate("row => row.getBoundingClientRect().top < innerHeight / 2"))
    neutral = int(unread.locator(".number").inner_text())
    workbench.keyboard.press("2")
    for _ in range(STEPS):
        if re.search("All steps rated", note.inner_text()):
            break
        workbench.keyboard.press("0")
    expect(note).to_have_text("All steps rated, no error")
    expect(workbench.get_by_role("status").filter(has_text=f"{STEPS - 2} other steps changed too")).to_have_count(1)
    workbench.keyboard.press("z")
    assert workbench.locator(".shown li.step[data-answer=good]").count() == 0
    expect(step(workbench, neutral)).to_have_attribute("data-answer", "neutral")
    workbench.keyboard.press("Shift+z")
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(note).to_have_text(re.compile(f"^{STEPS} steps left"))
    expect(saved(workbench)).to_be_visible()
    others = [("rated", 1, True)] * (STEPS - 1)
    assert stored() == [*others[: neutral - 1], ("rated", 0, False), *others[neutral - 1 :]]


def test_no_more_errors_goes_on_by_a_screen_within_a_step_that_is_longer(open_for: Callable[..., Page]) -> None:
    generation = GenerationFactory()
    lines = "\n".join(f"Line {number}." for number in range(150))
    QueueItemFactory(
        generation=generation,
        solution__problem__text="Problem 1: what is left?",
        solution__steps=["We begin.", lines, "It is done."],
    )
    page = open_for(MembershipFactory(project=generation.project).user)
    open_workbench(page, generation.project)
    note = page.locator("#readiness")
    places = []
    while "All steps rated" not in note.inner_text():
        page.keyboard.press("0")
        places.append(page.evaluate("scrollY"))
        assert len(places) < 20, places
    read = places[: places.index(max(places)) + 1]
    assert len(read) > 3
    screen = page.evaluate("innerHeight")
    assert all(0 < then - one < screen for one, then in pairwise(read)), places


def test_a_step_is_gone_to_by_its_number_and_e_marks_the_error_there_once_all_before_was_seen(workbench: Page) -> None:
    workbench.set_viewport_size({"width": 1280, "height": 500})
    for key in "q23":
        workbench.keyboard.press(key)
    expect(step(workbench, 23)).to_have_attribute("aria-current", "step")
    expect(step(workbench, 23)).to_be_in_viewport()
    workbench.keyboard.press("e")
    expect(workbench.locator("#readiness")).to_have_text(re.compile(r"Read on: you have not seen all of step \d+"))
    assert workbench.locator(".shown li.step:not([data-answer=''])").count() == 0

    def marked() -> bool:
        """The key scrolls to the first unread step. Once every step is read, it marks the error."""
        for key in "q23e":
            workbench.keyboard.press(key)
        return step(workbench, 23).get_attribute("data-answer") == "bad"

    until(marked)
    expect(workbench.get_by_label("Go to step")).to_have_count(0)
    expect(step(workbench, 23)).to_be_focused()
    workbench.keyboard.press("Enter")
    expect(problem_of(workbench)).to_contain_text("Problem 2:")
    expect(saved(workbench)).to_be_visible()
    assert stored()[21:24] == [("rated", 1, True), ("rated", -1, False), ("not_reached", None, False)]


def test_a_project_may_ask_for_every_step_by_hand(workbench: Page, project: Project) -> None:
    expect(workbench.get_by_role("button", name="No more errors")).to_be_visible()
    project.scheme = {"offer_accepting": False}
    project.save()
    workbench.reload()
    expect(problem_of(workbench)).to_contain_text("Problem 1:")
    expect(workbench.get_by_role("button", name="No more errors")).to_have_count(0)
    expect(workbench.get_by_role("button", name="First error")).to_have_count(0)
    workbench.keyboard.press("0")
    workbench.keyboard.press("e")
    workbench.keyboard.press("2")
    expect(step(workbench, 1)).to_have_attribute("data-answer", "neutral")
    assert workbench.locator(".shown li.step[data-answer=good]").count() == 0
