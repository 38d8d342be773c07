"""Guidelines that change during the work are shown with the next solution, and each label states what was shown."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.core.membership.projects import change_project
from annotation.models import Annotation
from tests.browser.workbench import next_in_hand, open_workbench, problem_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


def test_changed_guidelines_are_shown_and_each_label_states_its_version(open_for: Callable[..., Page]) -> None:
    generation = GenerationFactory(project__guidelines="Be **fair**.")
    project = generation.project
    for number in (1, 2, 3, 4):
        text = f"Problem {number}: what is ${number} + 2$?"
        QueueItemFactory(generation=generation, rank=number, solution__problem__text=text, solution__steps=["We add."])
    page = open_for(MembershipFactory(project=project).user, viewport={"width": 1280, "height": 800})
    open_workbench(page, project)
    expect(next_in_hand(page)).to_be_visible()
    panel = page.get_by_role("region", name="Guidelines")
    expect(panel).to_contain_text("Be fair.")

    manager = MembershipFactory(project=project, role="manager").user
    change_project(by=manager, project=project, guidelines="Be **strict**.")
    for number in (2, 3):
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(problem_of(page)).to_contain_text(f"Problem {number}")
    expect(panel).to_contain_text("Be strict.")
    notice = page.get_by_role("status").get_by_text("The guidelines have changed.")
    expect(notice).to_be_visible()
    page.get_by_role("button", name="OK").click()
    expect(notice).to_be_hidden()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    until(lambda: Annotation.objects.count() == 3)
    assert list(Annotation.objects.order_by("pk").values_list("guidelines__number", flat=True)) == [1, 1, 2]
