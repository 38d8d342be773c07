"""A newcomer fails the screening in the workbench, is let in by a manager, and goes on."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation
from annotation.queue.screening import decide
from tests.factories import GenerationFactory, MembershipFactory, ProblemFactory, QueueItemFactory, SolutionFactory
from tests.unit.annotation.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db(transaction=True)


def test_whoever_fails_is_told_so_and_goes_on_once_a_manager_lets_them_in(page_for: Callable[..., Page]) -> None:
    generation = GenerationFactory(project__policy={"screening": {"items": 1, "pass_mark": 1}})
    project = generation.project
    make_gold(project, 1, first_error=-1)
    problem = ProblemFactory(project=project, text="An ordinary problem")
    QueueItemFactory(generation=generation, solution=SolutionFactory(project=project, problem=problem))
    person, manager = MembershipFactory(project=project), MembershipFactory(project=project, role="manager")
    page = page_for(person.user)
    page.goto(f"/p/{project.slug}/label/")
    expect(page.get_by_role("region", name="Problem")).to_contain_text("plus 2?")
    page.keyboard.press("e")  # an error where there is none
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="No work for you here now")).to_be_visible()
    expect(page.get_by_text("manager can let you try again")).to_be_visible()
    assert list(Annotation.objects.filter(annotator=person).values_list("lane", flat=True)) == ["screening"]

    decide(by=manager.user, membership=person, outcome="passed", reason="we talked")
    page.get_by_role("button", name="Look again").click()
    expect(page.get_by_role("region", name="Problem")).to_contain_text("An ordinary problem")
    page.context.set_offline(True)  # nothing is sent any more when the page goes
