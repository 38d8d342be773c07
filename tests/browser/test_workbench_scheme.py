"""The questions of a label scheme, answered by keyboard in a real browser and stored unchanged."""

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
    "keys": {"good": "u", "bad": "q", "flag": "5", "go_to": "6"},
    "offer_neutral": False,
}
AT_ERROR = {"rate_alternatives": True, "critique": "written", "ask_own_step": True, "reference": "on_request"}
AGENT = {
    "stop_at_first_error": False,
    "policy_clauses": [{"name": "2.1", "help": "Never delete without asking.", "group": "Care"}, {"name": "3.4"}],
    "consistency": True,
    "redundancy": True,
    "recovery": True,
}


def project_with(scheme: dict, *, second: str | list[str] = "2 + 2 = 5.") -> Project:
    generation = GenerationFactory(project__scheme=scheme)
    problem = ProblemFactory(project=generation.project, text="Problem 1: what is 2 + 2?")
    solution = SolutionFactory(
        project=generation.project,
        problem=problem,
        steps=["We add.", second, "That cannot be: 2 + 2 = 4.", "It is 4."],
    )
    wrong = solution.steps.get(position=1, alternative=0)
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
    expect(step(page, 1).get_by_role("button", name="Flag")).to_have_text("Flag 5")
    press(page, "1", "2", "3")
    expect(page.locator("#readiness")).to_contain_text("4 steps left")
    press(page, "u", "q")
    expect(page.locator("#readiness")).to_contain_text("how far the solution got")
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


def test_after_a_later_critique_focus_moves_to_the_one_that_is_missing(open_for: Callable[..., Page]) -> None:
    page = workbench_of(project_with(PHASE_2), open_for)
    press(page, "u", "q")
    critiques = step(page, 2).locator(".critique")
    critiques.nth(1).get_by_role("button").first.click()
    expect(critiques.nth(0).get_by_role("button").first).to_be_focused()
    press(page, "3")
    expect(critiques.nth(0)).to_have_attribute("data-rated", "true")
    press(page, "Escape", "Enter")
    expect(page.locator("#readiness")).not_to_contain_text("what is wrong")


def test_behind_the_first_error_the_other_ways_on_are_rated_and_what_is_wrong_is_written(
    open_for: Callable[..., Page],
) -> None:
    page = workbench_of(project_with(AT_ERROR, second=["2 + 2 = 5.", "2 + 2 = 4.", "2 + 2 = 3."]), open_for)
    reference = page.get_by_text("Reference answer")
    expect(reference).to_have_count(0)
    press(page, "r")
    expect(reference).to_be_visible()
    press(page, "1", "3")
    expect(page.locator(".shown li.step")).to_have_count(6)
    expect(page.locator("#readiness")).to_contain_text("2 alternatives")
    press(page, "1", "3")
    expect(page.locator("#readiness")).to_contain_text("what is wrong")
    press(page, "Enter")
    expect(page.locator(".shown .critique-text")).to_be_focused()
    page.keyboard.type("Two and two make four.")
    press(page, "Escape")
    page.get_by_label("What should this step have said?").fill("2 + 2 = 4.")
    press(page, "Escape", "Enter")
    until(Annotation.objects.exists)
    said = StepRating.objects.filter(step__position=1).order_by("step__alternative")
    assert [rating.rating for rating in said] == [-1, 1, -1]
    assert said[0].dimensions == {"critique": "Two and two make four."}
    assert Annotation.objects.get().path.get(position=1).own_text == "2 + 2 = 4."


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


def test_a_draft_is_gone_on_with_after_the_scheme_has_changed(open_for: Callable[..., Page]) -> None:
    project = project_with(AGENT)
    page = workbench_of(project, open_for)
    press(page, "1", "3", "k", "d", "j", "2")
    expect(step(page, 3)).to_have_attribute("data-answer", "neutral")
    Project.objects.update(scheme={"error_types": ["slip"]})
    page.reload()
    expect(page.get_by_text("questions have changed since you started")).to_be_visible()
    expect(step(page, 2)).to_contain_text("[Redundant; Step 3: neutral]")
    page.get_by_role("button", name="OK").click()
    expect(page.get_by_text("questions have changed since you started")).to_have_count(0)
    press(page, "Enter")
    until(Annotation.objects.exists)
    assert StepRating.objects.get(rating=-1).comment == "[Redundant; Step 3: neutral]"
