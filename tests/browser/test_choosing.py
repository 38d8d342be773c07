"""PRM800K's phase 1 in a browser: rate candidates, choose one or write a step, and the solution continues."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Project
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = ["We add.", ["2 + 2 = 5.", "2 + 2 = 4.", "It is $4$."], ["So 5.", "So 6."], ["Never shown.", "Nor this."]]


@pytest.fixture
def project() -> Project:
    generation = GenerationFactory(project__scheme={"choose_path": True, "ask_own_step": True})
    QueueItemFactory(generation=generation, solution__steps=STEPS)
    return generation.project


@pytest.fixture
def workbench(open_for: Callable[..., Page], project: Project) -> Page:
    page = open_for(MembershipFactory(project=project).user)
    page.goto(f"/p/{project.slug}/label/")
    expect(page.locator(".shown li.step")).to_have_count(1)
    return page


def test_the_solution_grows_by_what_is_taken_or_written_and_ends_where_it_is_complete(workbench: Page) -> None:
    press = workbench.keyboard.press
    press("1")
    expect(workbench.locator(".shown li.step")).to_have_count(4)
    for key in "311":
        press(key)
    expect(workbench.locator("#readiness")).to_contain_text("Choose a candidate for step 2")
    press("x")
    expect(workbench.locator(".shown li.step.taken")).to_contain_text(["We add.", "It is"])
    expect(workbench.locator(".shown li.step")).to_have_count(6)
    press("3")
    press("3")
    workbench.get_by_label("Or continue with your own step").fill("So $4$.")
    press("Escape")
    expect(workbench.locator(".shown li.step")).to_have_count(8)
    press("n")
    expect(workbench.locator("#readiness")).to_contain_text("The solution is complete: 3 steps")
    press("z")
    expect(workbench.locator(".shown li.step")).to_have_count(8)
    press("Shift+z")
    expect(workbench.locator(".shown li.step")).to_have_count(6)
    press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    label = Annotation.objects.get()
    assert (label.finish_reason, label.first_error) == ("solution", -1)
    assert [place.own_text or place.chosen.text for place in label.path.all()] == ["We add.", "It is $4$.", "So $4$."]
    assert [rating.rating for rating in label.ratings.order_by("step__position", "ordinal")] == [1, -1, 1, 1, -1, -1]
