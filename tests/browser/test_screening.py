"""Screening in the workbench: it shows the progress and the result, and it or a manager admits the newcomer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Project
from annotation.work.gold.screening import decide
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db(transaction=True)


def project_with(*, items: int, **screening: object) -> Project:
    """New annotators answer `items` solutions without an error, then an ordinary one."""
    generation = GenerationFactory(project__policy={"screening": {"items": items, "pass_mark": 1, **screening}})
    make_gold(generation.project, items, first_error=-1)
    QueueItemFactory(generation=generation, solution__problem__text="An ordinary problem")
    return generation.project


def test_whoever_passes_is_told_how_far_it_is_that_they_passed_and_what_comes_next(
    open_for: Callable[..., Page],
) -> None:
    project = project_with(items=2, feedback=True)
    page = open_for(MembershipFactory(project=project).user)
    page.goto(f"/p/{project.slug}/label/")
    expect(page.get_by_text("You start with 2 solutions whose answers are known")).to_be_visible()
    expect(page.get_by_text("screening: 0 of 2")).to_be_visible()
    expect(page.get_by_role("region", name="Problem")).to_contain_text("plus 2?")
    page.keyboard.press("e")  # an error where there is none
    page.keyboard.press("Enter")
    expect(page.get_by_text("screening: 1 of 2")).to_be_visible()
    expect(page.get_by_text("You start with")).to_have_count(0)
    for key in ("1", "1", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("region", name="Problem")).to_contain_text("An ordinary problem")
    expect(page.get_by_text("You passed the screening")).to_contain_text("1 of 2 of your answers were right.")
    expect(page.get_by_text("screening: ")).to_have_count(0)
    answers = page.get_by_role("link", name="See how you answered")
    expect(answers).to_have_attribute("href", f"/p/{project.slug}/my-work/#screening")
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You passed the screening")).to_have_count(0)


def test_whoever_fails_is_told_so_and_goes_on_once_a_manager_lets_them_in(open_for: Callable[..., Page]) -> None:
    project = project_with(items=1)
    person, manager = MembershipFactory(project=project), MembershipFactory(project=project, role="manager")
    page = open_for(person.user)
    page.goto(f"/p/{project.slug}/label/")
    expect(page.get_by_role("region", name="Problem")).to_contain_text("plus 2?")
    page.keyboard.press("e")  # an error where there is none
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No work for you right now")).to_be_visible()
    expect(page.get_by_text("manager can let you try again").first).to_be_visible()
    assert list(Annotation.objects.filter(annotator=person).values_list("lane", flat=True)) == ["screening"]

    decide(by=manager.user, membership=person, outcome="passed", reason="we talked")
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_role("region", name="Problem")).to_contain_text("An ordinary problem")
