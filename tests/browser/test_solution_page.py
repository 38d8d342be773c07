"""A solution on a manager's page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests import manager_world
from tests.factories import ProblemFactory, SolutionFactory


@pytest.mark.django_db(transaction=True)
def test_formulas_of_a_solution_are_typeset(page_for: Callable[..., Page]) -> None:
    """As in the workbench: a program's output is unchanged, and nothing is read as HTML."""
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    problem = ProblemFactory(project=project, text="What is $\\frac{1}{2} + 1$?")
    texts = ["We add $\\frac{1}{2}$ and <b>one</b>.", "echo $x$"]
    solution = SolutionFactory(project=project, problem=problem, steps=texts)
    solution.steps.filter(position=1).update(kind="tool_call")
    page = page_for(people["manager"])
    page.goto(f"/p/algebra/solutions/{solution.pk}/")
    expect(page.locator(".card .katex")).to_have_count(1)
    expect(page.locator("table .katex")).to_have_count(1)
    expect(page.get_by_text("<b>one</b>")).to_be_visible()
    expect(page.get_by_text("echo $x$")).to_be_visible()
