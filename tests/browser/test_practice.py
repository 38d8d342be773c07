"""Practice in a real browser: each answer is explained before the next solution, and makes no label."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, PracticeAnswer, Project
from tests.factories import MembershipFactory, ProjectFactory
from tests.unit.annotation.work.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db(transaction=True)
EXAMPLE = {"rating": "bad", "before": "What is 2 + 2?", "step": "It is $5$.", "why": "It is 4."}


@pytest.fixture
def project() -> Project:
    """Two practice solutions whose second step is wrong."""
    project = ProjectFactory(examples=[EXAMPLE])
    for gold in make_gold(project, 2):
        gold.practice, gold.explanation = True, "It is $4$, not five."
        gold.save()
    return project


def test_each_answer_is_explained_and_the_set_can_be_gone_through_again(
    page_for: Callable[..., Page], project: Project
) -> None:
    person = MembershipFactory(project=project)
    page = page_for(person.user, viewport={"width": 1280, "height": 900})
    page.goto(f"/p/{project.slug}/practice/")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    expect(page.get_by_text("are not labels")).to_be_visible()
    panel = page.get_by_role("region", name="Guidelines")
    expect(panel.get_by_role("heading", name="Steps that are bad")).to_be_visible()
    expect(panel.locator("blockquote .katex")).to_be_visible()

    page.keyboard.press("e")  # the first step, which is right
    page.keyboard.press("Enter")
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("the first error comes later")
    expect(verdict).to_contain_text("first error at step 1")
    expect(verdict.locator(".katex")).to_be_visible()
    page.keyboard.press("1")  # an answer that was given does not change
    expect(page.locator(".shown li.step:nth-child(1)")).to_have_attribute("data-answer", "bad")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("Correct.")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="You have finished the practice set")).to_be_visible()
    expect(page.get_by_text("1 of 2 right last time")).to_be_visible()
    page.get_by_role("button", name="Practise the one you got wrong").click()
    expect(page.get_by_text("1 of 1")).to_be_visible()
    assert not Annotation.objects.filter(annotator=person).exists()
    assert [row.outcome for row in PracticeAnswer.objects.order_by("pk")] == ["too_early", "right"]


def test_the_sheet_of_keys_opens_with_a_question_mark_and_closes_again(
    page_for: Callable[..., Page], project: Project
) -> None:
    page = page_for(MembershipFactory(project=project).user, viewport={"width": 1280, "height": 900})
    page.goto(f"/p/{project.slug}/practice/")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    page.keyboard.press("?")
    sheet = page.get_by_role("region", name="Keys")
    expect(sheet.get_by_text("First error here: accepts the steps before it")).to_be_visible()
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()
