"""A reviewer goes through what waits by keys alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, PathStep, Solution, StepRating
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db(transaction=True)


def label(solution: Solution, *ratings: int) -> Annotation:
    """Ratings of the first steps by somebody of their own; -1 ends it."""
    error = ratings.index(-1) if -1 in ratings else -1
    made = AnnotationFactory(
        solution=solution, first_error=error, finish_reason="found_error" if error >= 0 else "solution"
    )
    for step, rating in zip(solution.steps.all(), ratings, strict=False):
        chosen = None if rating == -1 else step
        PathStep.objects.create(annotation=made, position=step.position, chosen=chosen)
        StepRating.objects.create(annotation=made, step=step, state="rated", rating=rating)
    return made


def test_one_key_decides_and_a_reviewers_own_ratings_are_one_key_a_step(open_for: Callable[..., Page]) -> None:
    project = ProjectFactory(slug="algebra")
    for text in ("Two and two", "Three and three"):
        solution = SolutionFactory(project=project, problem__text=text)
        label(solution, 1, 1, 1)
        label(solution, 1, -1)
    page = open_for(MembershipFactory(project=project, role="reviewer").user)

    page.goto("/p/algebra/review/")
    page.get_by_role("link", name="Start reviewing").click()
    expect(page.get_by_text("Three and three")).to_be_visible()
    current = page.locator("tr[aria-current=step]")
    expect(current).to_contain_text("2 + 2 = 4.")  # the first difference
    expect(page.get_by_text("We add the numbers.")).to_be_hidden()  # what both say
    page.keyboard.press("o")
    expect(page.get_by_text("We add the numbers.")).to_be_visible()
    expect(page.get_by_role("button", name="Decide by your ratings")).to_be_disabled()

    page.keyboard.press("b")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    expect(page.get_by_text("Two and two")).to_be_visible()
    expect(current).to_contain_text("2 + 2 = 4.")  # the page has its keys
    page.keyboard.press("1")
    expect(current).to_contain_text("The answer is 4.")
    page.get_by_label("Why you decide so").press("Enter")  # not yet: the last step has no rating
    expect(page.get_by_text("Two and two")).to_be_visible()
    current.focus()
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 3")).to_be_visible()
    expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()

    page.get_by_role("link", name="Decide anew").click()
    expect(current).to_contain_text("2 + 2 = 4.")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("is decided: first error at step 2")).to_be_visible()
    decided = Annotation.objects.filter(adjudicates=True).order_by("pk")
    assert list(decided.values_list("first_error", "revision")) == [(1, 1), (2, 1), (1, 2)]
