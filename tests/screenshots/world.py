"""The world that is photographed: a project with everything in it, one with nothing, and a person for each role."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.core.membership.members import add_member
from annotation.core.membership.projects import change_project, create_project
from annotation.models import Critique, Hint, Lease, Membership, ModelVersion, Preference, Project
from tests import manager_world
from tests.factories import (
    GenerationFactory,
    MachineAnnotatorFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
    UserFactory,
)
from tests.screenshots.state import World
from tests.unit.annotation.work.queue.gold_world import make_gold

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
        "keys": {"good": "u", "bad": "q", "go_to": "5"},
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


def make_world() -> World:
    """A project with everything in it, one with nothing, and a person for each role; one of them sees hints."""
    people = manager_world.create_people()
    project = manager_world.create_empty_project(people)
    manager_world.fill(project, people)
    change_project(by=people["manager"], project=project, guidelines=GUIDELINES, scheme=SCHEME)
    generation = project.generations.get()
    generation.items.all().update(rank=100)
    for rank in range(6):
        problem = ProblemFactory(project=project, text=PROBLEM, text_hash=f"{rank:063}x", reference_answer="14")
        solution = SolutionFactory(project=project, problem=problem, steps=STEPS)
        QueueItemFactory(generation=generation, solution=solution, rank=rank, wanted=9)
    people["hinted"] = _hinted(project)
    MachineAnnotatorFactory(membership__project=project, membership__user__username="judge")
    people["german"] = add_member(by=people["manager"], project=project, user=_german(), role="manager").user
    for slug, scheme in SCHEMES.items():
        _asking(people, slug, scheme)
    _practising(people)
    empty = create_project(by=people["manager"], name="Nothing yet", slug="empty")
    add_member(by=people["manager"], project=empty, user=people["annotator"], role="annotator")
    GenerationFactory(project=empty, number=0)
    return people


def _german() -> User:
    person = UserFactory(username="german")
    Preference.objects.create(user=person, language="de")
    return person


def _asking(people: World, slug: str, scheme: dict[str, Any]) -> None:
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


def _practising(people: World) -> None:
    """A project with two solutions to practise on, and two hidden among the others."""
    project = create_project(by=people["manager"], name="Practice", slug="practice", guidelines=GUIDELINES)
    add_member(by=people["manager"], project=project, user=people["annotator"], role="annotator")
    for number, gold in enumerate(make_gold(project, 4)):
        if number < 2:
            gold.practice, gold.explanation = True, "The second step adds what should be multiplied: $2 \\cdot 3 = 6$."
            gold.save()


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
