"""A label is submitted, disputed, sent back and revised, and the annotator's own work shows it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Project
from tests.browser.workbench import open_workbench, problem_of, step
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    """Two solutions of three steps each, in the order 1, 2, whose reference can be disputed."""
    generation = GenerationFactory()
    for number in (1, 2):
        text, steps = f"Problem {number}: what is 2 + 2?", ["One.", "Two.", "Three."]
        QueueItemFactory(generation=generation, rank=number, solution__problem__text=text, solution__steps=steps)
    return generation.project


def test_what_a_reviewer_sends_back_is_read_changed_and_told_of_with_the_disputes_end(
    open_for: Callable[..., Page], project: Project
) -> None:
    page = open_for(MembershipFactory(project=project).user)
    open_workbench(page, project)
    page.get_by_role("button", name="The reference is wrong").click()
    page.keyboard.press("e")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("1 today")).to_be_visible()
    solution = Annotation.objects.get().solution_id

    beside = open_for(MembershipFactory(project=project, role="reviewer").user)
    beside.goto(f"/p/{project.slug}/review/{solution}/")
    beside.get_by_text("Send back", exact=False).first.click()
    beside.get_by_label("Note to the annotator").fill("Is the first step not right?")
    beside.get_by_role("button", name="Send back").click()
    expect(beside.get_by_text("Is the first step not right?")).to_be_visible()
    beside.goto(f"/p/{project.slug}/review/{solution}/")
    the_reference_is_right = beside.get_by_role("button", name="The reference is right")
    beside.locator("form", has=the_reference_is_right).get_by_label("Reason").fill("It is four.")
    the_reference_is_right.click()
    expect(the_reference_is_right).to_have_count(0)

    page.reload()
    expect(page.get_by_text("1 sent back to you")).to_be_visible()
    page.keyboard.press("l")
    came_back = page.locator("#sent-back")
    expect(came_back).to_contain_text("Is the first step not right?")
    came_back.get_by_role("link").click()
    expect(problem_of(page)).to_contain_text("Problem 1:")
    expect(page.locator(".banners")).to_contain_text("Is the first step not right?")
    step(page, 1).focus()
    for key in ("1", "1", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Your change is submitted")).to_be_visible()
    expect(page.locator("[data-saved=saved]")).to_be_visible()

    page.goto(f"/p/{project.slug}/my-work/")
    expect(page.locator(".card", has_text="Sent back earlier")).to_contain_text("Is the first step not right?")
    expect(page.locator(".card", has_text="Your disputes")).to_contain_text("It is four.")
    expect(page.locator(".figure", has_text="All your labels").locator(".value")).to_have_text("1")
    assert list(Annotation.objects.order_by("revision").values_list("first_error", flat=True)) == [0, -1]
