"""What happened before a state of the workbench is opened: work of others, policies, solutions of every kind."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from annotation.core.membership.members import add_member
from annotation.core.membership.projects import create_project
from annotation.core.project_templates import guidelines_of
from annotation.management.demo import creation
from annotation.models import Annotation, Membership, Project, Step
from annotation.work.labelling.sending_back import send_back
from tests.factories import (
    GenerationFactory,
    MembershipFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
)
from tests.screenshots.state import World
from tests.unit.annotation.work.queue.gold_world import claim, make_gold, work

Given = Callable[[World], object]

REASONS = [
    "Step 2 is right: the denominator is three times the numerator, less 7.",
    "Read step 2 once more, please.",
    "You stopped at step 2. What is wrong with it?",
]
RUN = [
    ("plan", "- find where the mean is taken\n- make it hold for an empty list\n- run the tests"),
    ("reasoning", "I look at the file first, and at what its tests say of an empty list."),
    ("tool_call", 'I look.\nBash({"command": "cat stats.py\\npytest -q tests/test_stats.py", "timeout": 60})'),
    (
        "observation",
        "def mean(values):\n    return sum(values) / len(values)\n\n"
        + "\n".join(f"tests/test_stats.py::test_mean[{n}] PASSED" for n in range(80))
        + "\nE   ZeroDivisionError: division by zero",
    ),
    (
        "edit",
        'Edit({"file_path": "stats.py", "old_string": "def mean(values):\\n    return sum(values) / len(values)", '
        '"new_string": "def mean(values):\\n    if not values:\\n        return 0.0\\n'
        '    return sum(values) / len(values)"})',
    ),
    ("observation", "81 passed in 0.42 s"),
    ("answer", "The mean of an empty list is now `0.0`, and all 81 tests pass."),
]
BROKEN = [
    r"We have $\frac{x}{3x - 7 = \frac{2}{5}$, and so on.",
    r"\begin{align} 5x &= 2(3x - 7) \\ &= 6x - 14 \end{align}",
    r"A word that nobody knows: $\notacommand{x} + 1$, within a line that goes on.",
    r"\[ \left( \frac{1}{2} \] is never closed.",
    "| step | value |\n|---|---|\n| first | $x = 14$ |\n| second | $\\frac{2}{5}$ |",
    r"So $x = \boxed{14}$, and it costs \$5 or $6.",
]
TETRAHEDRON = (
    "Let $ABCD$ be a regular tetrahedron with side length 2. The plane parallel to edges $AB$ and $CD$ and lying "
    "halfway between them cuts $ABCD$ into two pieces. Find the surface area of one of these pieces."
)
STEPS = [
    "In a regular tetrahedron, all the faces are equilateral triangles.",
    r"So we can use the formula for the area of an equilateral triangle, $A = \dfrac{s^2\sqrt{3}}{4}$.",
    r"The side length is 2, so the area of one face is $\dfrac{4\sqrt{3}}{4} = \sqrt{3}$.",
    r"And since there are 4 faces, the total surface area is $4\sqrt{3}$.",
    "We want to find the surface area of half of the tetrahedron.",
    r"I think we can just find half of the total surface area, which would be $2\sqrt{3}$.",
    "But we have to remember that the plane cutting the tetrahedron also cuts one of the faces in half.",
    r"So we have to add back on half of a face, which is $\dfrac{\sqrt{3}}{2}$.",
]
LONG = "We go through every case by hand. " + " ".join(
    f"For $n = {n}$ the sum is ${n * (n + 1) // 2}$, which is what the formula says." for n in range(1, 900)
)


def reading(*steps: tuple[str, str], **scheme: Any) -> Given:
    """A project of one solution with these steps, each a kind and a text."""

    def given(world: World) -> None:
        project = create_project(by=world["manager"], name="Reading", slug="reading")
        project.scheme = scheme
        project.save()
        add_member(by=world["manager"], project=project, user=world["annotator"], role="annotator")
        problem = ProblemFactory(project=project, text="What is done here, and is it right?", reference_answer="")
        solution = SolutionFactory(project=project, problem=problem, steps=[text for _, text in steps])
        for position, (kind, _) in enumerate(steps):
            Step.objects.filter(solution=solution, position=position).update(kind=kind)
        QueueItemFactory(generation=GenerationFactory(project=project, number=0), solution=solution, wanted=9)

    return given


def reasoning(texts: Sequence[str]) -> Given:
    return reading(*(("reasoning", text) for text in texts))


agent_run = reading(*RUN, stop_at_first_error=False, redundancy=True, recovery=True, consistency=True)
hundreds = reasoning([f"Now we add the number {n}, and have $s_{{{n}}} = {n * (n + 1) // 2}$." for n in range(1, 501)])
broken = reasoning(BROKEN)
long_step = reasoning(["We want the sum of the first $n$ numbers.", LONG[:64_000], "So the formula holds."])


def tetrahedron(world: World) -> None:
    """A solution of PRM800K (MIT licence), under the demo's guidelines and examples."""
    project = create_project(
        by=world["manager"],
        name="Competition mathematics",
        slug="mathematics",
        guidelines=guidelines_of("first_error", "en"),
        examples=json.loads((creation.HERE / "examples.json").read_text()),
    )
    project.scheme = {"error_types": ["wrong fact", "wrong calculation", "misread"]}
    project.save()
    add_member(by=world["manager"], project=project, user=world["annotator"], role="annotator")
    problem = ProblemFactory(project=project, text=TETRAHEDRON, reference_answer="1+2\\sqrt{3}")
    for solution in (SolutionFactory(project=project, problem=problem, steps=STEPS) for _ in range(2)):
        QueueItemFactory(
            generation=project.generations.first() or GenerationFactory(project=project, number=0), solution=solution
        )


def sent_back(world: World) -> None:
    """Three labels that the reviewer has sent back, each with a reason."""
    work(Membership.objects.get(project__slug="algebra", user=world["annotator"]), 3)
    labels = Annotation.objects.filter(annotator__user=world["annotator"], lease__isnull=False).order_by("pk")
    for label, reason in zip(labels, REASONS, strict=True):
        send_back(by=world["reviewer"], annotation=label, reason=reason)


def policy(slug: str, **parts: Any) -> Given:
    """A project with these parts of its policy."""

    def given(_world: World) -> None:
        project = Project.objects.get(slug=slug)
        project.policy = project.policy | parts
        project.save()

    return given


def screened(*right: bool, attempts: int = 1) -> Given:
    """A project that asks newcomers for three solutions that have no error, some of which were answered."""

    def given(world: World) -> None:
        project = _empty(world)
        screening = {"items": 3, "pass_mark": 2, "attempts": attempts, "feedback": True}
        policy(project.slug, screening=screening)(world)
        make_gold(project, 3 * attempts, first_error=-1)
        _queue(project)
        member = Membership.objects.get(project=project, user=world["annotator"])
        for one in right:
            work(member, 1, first_error=-1 if one else 1)

    return given


def unready(world: World) -> None:
    policy(_empty(world).slug, screening={"items": 3, "pass_mark": 2})(world)


def paused(world: World) -> None:
    _empty(world)
    Project.objects.filter(slug="empty").update(state=Project.State.PAUSED)


def all_taken(world: World) -> None:
    project = _empty(world)
    _queue(project)
    claim(MembershipFactory(project=project))


def enough_for_today(world: World) -> None:
    project = _empty(world)
    _queue(project)
    _queue(project)
    work(Membership.objects.get(project=project, user=world["annotator"]), 1)
    policy(project.slug, queue={"daily_cap": 1})(world)


def just_seen(world: World) -> None:
    """Another solution of the problem that was only just labelled."""
    project = _empty(world)
    _queue(project, problem=_queue(project))
    work(Membership.objects.get(project=project, user=world["annotator"]), 1)
    policy(project.slug, queue={"cool_down_minutes": 30})(world)


def other_fields(world: World) -> None:
    project = _empty(world)
    _queue(project)
    Membership.objects.filter(project=project, user=world["annotator"]).update(domains=["geometry"])


def _empty(_world: World) -> Project:
    return Project.objects.get(slug="empty")


def _queue(project: Project, *, problem: Any = None) -> Any:
    """A further solution in the queue of the project; returns its problem."""
    problem = problem or ProblemFactory(project=project)
    solution = SolutionFactory(project=project, problem=problem)
    QueueItemFactory(generation=project.generations.get(), solution=solution)
    return problem
