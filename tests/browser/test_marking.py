"""Marking parts of a step's text by mouse and by keyboard."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Project, StepRating
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db(transaction=True)
# An escape, emphasis, a formula and a character of two halves stand before what is marked.
STEP = r"It costs \$5, **so** 🤔 $x^2 = 2$ is wrong here."

LONG = "a rule that holds only for numbers other than zero was used although the number may be zero here"


@pytest.fixture
def project() -> Project:
    generation = GenerationFactory(project__scheme={"error_types": ["slip", LONG]})
    QueueItemFactory(generation=generation, solution__steps=[STEP])
    return generation.project


@pytest.fixture
def annotator(project: Project) -> User:
    return MembershipFactory(project=project).user


@pytest.fixture
def workbench(open_for: Callable[..., Page], project: Project, annotator: User) -> Page:
    page = open_for(annotator)
    page.goto(f"/p/{project.slug}/label/")
    expect(page.locator(".shown .step .katex")).to_be_visible()
    return page


def marked(page: Page) -> list[tuple[str, str, str]]:
    """The stored spans: the text that each covers, its type and its comment."""
    expect(page.get_by_text("1 today")).to_be_visible()
    [span_list] = StepRating.objects.values_list("spans", flat=True)
    return [(STEP[span["start"] : span["end"]], span["error_type"], span["comment"]) for span in span_list]


def drag_over(page: Page, words: str) -> None:
    """Selects words as a mouse does."""
    page.evaluate(
        """words => {
            const walker = document.createTreeWalker(document.querySelector(".shown .text"), NodeFilter.SHOW_TEXT);
            while (!walker.nextNode().textContent.includes(words));
            const at = walker.currentNode.textContent.indexOf(words);
            getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + words.length);
        }""",
        words,
    )


def test_what_the_mouse_selects_is_marked_with_a_type_and_a_word_on_it(workbench: Page) -> None:
    workbench.keyboard.press("3")
    drag_over(workbench, "is wrong")
    workbench.get_by_role("button", name="Mark text").click()
    expect(workbench.locator(".spans q")).to_have_text("is wrong")
    workbench.keyboard.type("It is right!")
    types = workbench.locator(".spans select")
    types.select_option(LONG)
    edges = [place.bounding_box() for place in (types, workbench.locator(".spans"))]
    assert edges[0]["x"] + edges[0]["width"] <= edges[1]["x"] + edges[1]["width"], "a long name widens nothing"
    types.select_option("slip")
    assert workbench.evaluate("[...CSS.highlights.get('marked')].map(String)") == ["is wrong"]
    workbench.keyboard.press("Escape")
    workbench.keyboard.press("Enter")
    assert marked(workbench) == [("is wrong", "slip", "It is right!")]


def test_words_are_selected_and_marked_by_keys_alone_and_undone(workbench: Page) -> None:
    for key in ["a", *["ArrowRight"] * 4, "Shift+ArrowRight", "a"]:
        workbench.keyboard.press(key)
    workbench.keyboard.type("a formula is one word")
    workbench.keyboard.press("Enter")
    expect(workbench.locator(".shown li.step.current")).to_be_focused()
    workbench.keyboard.press("a")
    workbench.keyboard.press("a")
    workbench.keyboard.press("Escape")
    expect(workbench.locator(".spans li")).to_have_count(2)
    workbench.keyboard.press("z")
    expect(workbench.locator(".spans li")).to_have_count(1)
    workbench.keyboard.press("1")
    workbench.keyboard.press("Enter")
    assert marked(workbench) == [("🤔 $x^2 = 2$", "", "a formula is one word")]


def test_a_revision_shows_again_what_was_marked(workbench: Page, project: Project) -> None:
    workbench.keyboard.press("1")
    drag_over(workbench, "is wrong")
    workbench.keyboard.press("a")
    workbench.keyboard.press("Escape")
    workbench.keyboard.press("Enter")
    expect(workbench.get_by_text("1 today")).to_be_visible()
    workbench.goto(f"/p/{project.slug}/label/{Annotation.objects.get().solution_id}/")
    expect(workbench.locator(".spans q")).to_have_text("is wrong")
