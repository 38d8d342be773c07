"""Takes the pictures. Not collected with the tests: nothing here can fail but a page that does not come."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page

from annotation.membership.members import add_member
from annotation.membership.projects import create_project
from annotation.models import (
    Critique,
    Hint,
    ImportJob,
    Lease,
    Membership,
    ModelVersion,
    Preference,
    Project,
    Solution,
    TrainingRun,
)
from tests import manager_world
from tests.factories import GenerationFactory, ProblemFactory, QueueItemFactory, SolutionFactory, UserFactory
from tests.screenshots.sheet import LOOKS, Look, picture, write_sheet
from tests.screenshots.states import STATES, State

HEIGHT = 800
# Each look begins with the same blank solution, whatever a page that is closed sends at the last moment.
KEEP_NO_DRAFT = """
const send = window.fetch;
window.fetch = (address, options) =>
  String(address).endsWith("/draft/")
    ? Promise.resolve(Response.json({ version: 1, saved_at: "2026-01-01T00:00:00Z" }))
    : send(address, options);
"""
pytestmark = pytest.mark.django_db(transaction=True)

GUIDELINES = "**Good**: correct, and moves on.\n\n**Neutral**: not wrong, but no help.\n\n**Bad**: wrong: $2 + 2 = 5$."
PROBLEM = (
    "The denominator of a fraction is $7$ less than $3$ times the numerator. "
    "If it equals $\\frac{2}{5}$, what is the numerator?"
)
STEPS = [
    "Let the numerator be $x$.",
    "The denominator is $3x - 7$.",
    ["So $\\frac{x}{3x - 7} = \\frac{2}{5}$, and\n\\[ 5x = 2(3x - 7). \\]", "So $5x = 6x - 7$.", "We try $x = 7$."],
    "Hence $5x = 6x - 14$, which gives $x = 14$.",
    "The answer is $\\boxed{14}$.",
]
SCHEME = {"error_types": ["slip", "wrong operation", "misread"], "ask_own_step": True, "reference": "on_request"}
SCHEMES: dict[str, dict[str, Any]] = {
    "choosing": {"choose_path": True, "ask_own_step": True},
    "asking": {
        "ask_progress": True,
        "critique": "given",
        "ask_own_step": True,
        "error_types": [
            {"name": "slip", "help": "The rule is right, the arithmetic is not.", "group": "Calculation"},
            {"name": "wrong operation", "group": "Calculation"},
            {"name": "misread", "group": "Reading"},
        ],
        "answers": {"good": {"name": "Sound", "colour": "green"}, "bad": {"name": "Unsound", "colour": "red"}},
        "keys": {"good": "u", "bad": "q"},
    },
    "dimensions": {
        "stop_at_first_error": False,
        "policy_clauses": [
            {"name": "2.1", "help": "Never delete without asking.", "group": "Care"},
            {"name": "3.4", "help": "Say what was not done.", "group": "Honesty"},
        ],
        "consistency": True,
        "redundancy": True,
        "recovery": True,
    },
}
CRITIQUES = ["The font is ugly.", "The denominator is $3x - 7$, so the right side is $2(3x - 7) = 6x - 14$."]


@pytest.fixture
def world() -> dict[str, User]:
    """A project with everything in it, one with nothing, and a person for each role; one of them sees hints."""
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    project.guidelines, project.scheme = GUIDELINES, SCHEME
    project.save()
    generation = project.generations.get()
    generation.items.all().update(rank=100)
    for rank in range(2):
        problem = ProblemFactory(project=project, text=PROBLEM, text_hash=f"{rank:063}x", reference_answer="14")
        solution = SolutionFactory(project=project, problem=problem, steps=STEPS)
        QueueItemFactory(generation=generation, solution=solution, rank=rank, wanted=9)
    people["hinted"] = _hinted(project)
    people["german"] = add_member(by=people["manager"], project=project, user=_german(), role="manager").user
    for slug, scheme in SCHEMES.items():
        _asking(people, slug, scheme)
    empty = create_project(by=people["manager"], name="Nothing yet", slug="empty")
    add_member(by=people["manager"], project=empty, user=people["annotator"], role="annotator")
    GenerationFactory(project=empty, number=0)
    return people


def _german() -> User:
    person = UserFactory(username="german")
    Preference.objects.create(user=person, language="de")
    return person


def _asking(people: dict[str, User], slug: str, scheme: dict[str, Any]) -> None:
    """A project of another scheme, with one solution; its candidate steps have critiques."""
    project = create_project(by=people["manager"], name=slug.capitalize(), slug=slug)
    project.scheme = scheme
    project.save()
    add_member(by=people["manager"], project=project, user=people["annotator"], role="annotator")
    problem = ProblemFactory(project=project, text=PROBLEM, reference_answer="14")
    solution = SolutionFactory(project=project, problem=problem, steps=STEPS)
    for step in solution.steps.all():
        for ordinal, text in enumerate(CRITIQUES):
            Critique.objects.create(step=step, ordinal=ordinal, text=text)
    QueueItemFactory(generation=GenerationFactory(project=project, number=0), solution=solution, wanted=9)


def _hinted(project: Project) -> User:
    """A person who has the first solution in hand, with the model's scores."""
    member = Membership.objects.create(project=project, user=UserFactory(username="hinted"), role="annotator")
    item = project.queue_items.order_by("rank")[0]
    now = timezone.now()
    lease = Lease.objects.create(
        item=item, solution=item.solution, annotator=member, claimed_at=now, expires_at=now + timedelta(days=1)
    )
    item.leased += 1
    item.save()
    Hint.objects.create(
        lease=lease,
        model_version=ModelVersion.objects.filter(project=project).first(),
        scores=[0.96, 0.91, 0.34, 0.42, 0.38],
        verdict=2,
        share=0.5,
        reveal="reached",
        shown=True,
        drawn_at=now,
    )
    return member.user


@pytest.fixture(scope="session", autouse=True)
def sheet() -> Iterator[None]:
    yield
    write_sheet()


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_take(
    state: State, world: dict[str, User], page_for: Callable[..., Page], new_context: Callable[..., Any]
) -> None:
    for look in LOOKS:
        context = {"viewport": {"width": look.width, "height": HEIGHT}, "color_scheme": look.theme}
        page = page_for(world[state.who], **context) if state.who else new_context(**context).new_page()
        page.add_init_script(KEEP_NO_DRAFT)
        page.goto(state.address.format(**_places()))
        state.act(page)
        _photograph(page, state, look)
        page.context.close()


def _places() -> dict[str, int]:
    return {
        "run": TrainingRun.objects.values_list("pk", flat=True)[0],
        "job": ImportJob.objects.values_list("pk", flat=True)[0],
        "solution": Solution.objects.order_by("pk").values_list("pk", flat=True)[0],
    }


def _photograph(page: Page, state: State, look: Look) -> None:
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready")
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": look.width, "height": max(height, HEIGHT)})  # what sticks stands at the end
    page.screenshot(path=picture(state.name, look), full_page=True, animations="disabled")
