"""What a project's scheme asks, answered by keyboard in a real browser and stored as it was said."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation, Critique, Project, StepRating
from tests.browser.workbench import open_workbench, step
from tests.factories import GenerationFactory, MembershipFactory, ProblemFactory, QueueItemFactory, SolutionFactory
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

PHASE_2 = {
    "ask_progress": True,
    "critique": "given",
    "answers": {"good": {"name": "Great", "colour": "green"}, "bad": {"name": "Broken", "colour": "red"}},
    "keys": {"good": "u", "bad": "q"},
    "offer_neutral": False,
}
AGENT = {
    "stop_at_first_error": False,
    "policy_clauses": [{"name": "2.1", "help": "Never delete without asking.", "group": "Care"}, {"name": "3.4"}],
    "consistency": True,
    "redundancy": True,
    "recovery": True,
}


def project_with(scheme: dict) -> Project:
    generation = GenerationFactory(project__scheme=scheme)
    problem = ProblemFactory(project=generation.project, text="Problem 1: what is 2 + 2?")
    solution = SolutionFactory(
        project=generation.project,
        problem=problem,
        steps=["We add.", "2 + 2 = 5.", "That cannot be: 2 + 2 = 4.", "It is 4."],
    )
    wrong = solution.steps.get(position=1)
    Critique.objects.bulk_create(
        [Critique(step=wrong, ordinal=0, text="The font is ugly."), Critique(step=wrong, ordinal=1, text="2 + 2 is 4.")]
    )
    QueueItemFactory(generation=generation, solution=solution)
    return generation.project


def workbench_of(project: Project, open_for: Callable[..., Page]) -> Page:
    page = open_for(MembershipFactory(project=project).user)
    open_workbench(page, project)
    return page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_the_first_error_is_asked_about_under_the_schemes_own_names_and_keys(open_for: Callable[..., Page]) -> None:
    page = workbench_of(project_with(PHASE_2), open_for)
    buttons = step(page, 1).get_by_role("group", name="Rating of step 1").get_by_role("button")
    expect(buttons).to_have_count(3)
    for n, name in enumerate(("Great", "Broken", "unsure")):
        expect(buttons.nth(n)).to_have_accessible_name(name)
    press(page, "1", "2", "3")
    expect(page.locator("#readiness")).to_contain_text("4 steps left")
    press(page, "u", "q")
    expect(page.locator("#readiness")).to_contain_text("how far the solution had got")
    press(page, "Enter")
    expect(step(page, 2).get_by_role("button", name="nowhere")).to_be_focused()
    press(page, "3")
    expect(page.locator("#readiness")).to_contain_text("what is wrong")
    press(page, "w", "3", "1")
    expect(page.locator("#readiness")).to_contain_text("First error at step 2")
    press(page, "Enter")
    until(Annotation.objects.exists)
    annotation = Annotation.objects.get()
    assert (annotation.first_error, annotation.progress) == (1, 2)
    wrong = StepRating.objects.get(annotation=annotation, step__position=1)
    assert wrong.dimensions == {"critique_ratings": [-1, 1]}


def test_a_steps_dimensions_are_said_by_keys_and_undone(open_for: Callable[..., Page]) -> None:
    page = workbench_of(project_with(AGENT), open_for)
    press(page, "1", "3", "k", "p")
    expect(step(page, 2).get_by_role("button", name="2.1")).to_be_focused()
    expect(step(page, 2)).to_contain_text("Never delete without asking.")
    press(page, "1", "i")
    step(page, 2).get_by_role("combobox").select_option("0")
    press(page, "j", "1", "k", "y", "d", "z", "j", "1")
    expect(step(page, 2)).to_contain_text("Breaks 2.1 · Contradicts step 1")
    press(page, "Enter")
    until(Annotation.objects.exists)
    said = StepRating.objects.order_by("step__position").values_list("dimensions", flat=True)
    assert list(said) == [{}, {"clauses": ["2.1"], "consistent": False, "consistent_with": 0}, {"recovers": True}, {}]
