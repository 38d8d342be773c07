"""Builds the demo project in parts, each of which resumes from what exists already."""

import json
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import User

from annotation.core.errors import DomainError
from annotation.core.membership.members import add_member
from annotation.core.membership.projects import change_project, create_project
from annotation.core.project_templates import guidelines_of
from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.rounds import pipeline, runs
from annotation.loop.selection.generations import open_first_generation
from annotation.management.demo import demo_accounts
from annotation.management.demo.labelling import PACE, work_through_queue
from annotation.models import Membership, Project, TrainingRun
from annotation.work.gold.designation import mark_references, references

HERE = Path(__file__).parent
SLUG = "demo"
SEED = 20261121
SOLUTIONS = 1500
GOLD, PRACTICE = 30, 8
FIRST_BUDGET, LATER_BUDGET = 800, 60
POLICY = {
    "training_sources": ["human", "simulated"],
    "mix": {"control": 0.2, "holdout": 0.2, "calibration": 0.15, "overlap": 0.08},
    # About 140 labelled holdout solutions cannot distinguish the default two points from zero. Size and tolerance were
    # chosen so that the demo also shows promotions. They are not evidence that models improve.
    "gate_tolerance": 0.1,
}
Say = Callable[[str], None]


def create_demo(*, say: Say, solutions: int = SOLUTIONS, first_budget: int = FIRST_BUDGET) -> Project:
    """Create the demo project, or finish one that was interrupted; a finished one stays unchanged.

    Raises DomainError (`demo_round_failed`).
    """
    people = demo_accounts.create_accounts(demo_accounts.PEOPLE)
    manager = people["manager"]
    if not manager.is_staff:  # the first project is created by staff
        manager.is_staff = True
        manager.save(update_fields=["is_staff"])
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        project = create_project(
            by=manager,
            slug=SLUG,
            name="Demo: find the first error",
            guidelines=guidelines_of("first_error", "en"),
            examples=json.loads((HERE / "examples.json").read_text()),
            policy=POLICY | {"generation_budget": first_budget},
        )
    if project.training_runs.filter(state=TrainingRun.State.DONE).exists():
        return project
    simulated = _add_members(project, people)
    if not project.training_runs.exists():
        sandbox = Sandbox(solutions=solutions, gold=GOLD + PRACTICE, seed=SEED)
        import_records(project=project, records=sandbox.records(), by=manager)
        import_records(project=project, records=sandbox.gold(), by=manager)
        known = list(references(project, kinds=["consensus"]))
        mark_references(by=manager, project=project, chosen=known[:PRACTICE], practice=True)
        mark_references(by=manager, project=project, chosen=known[PRACTICE:])
        say(f"{project.solutions.count()} solutions imported.")
        if not project.generations.exists():
            open_first_generation(by=manager, project=project, seed=SEED)
        labelled = work_through_queue(project=project, annotators=simulated, sandbox=sandbox, seed=SEED)
        say(f"{labelled} annotations by simulated annotators.")
        # The random start is large, so that there is something to learn; later generations are small.
        project = change_project(
            by=manager, project=project, policy=POLICY | {"generation_budget": min(LATER_BUDGET, first_budget)}
        )
    _finish_round(project, manager, say)
    return project


def _add_members(project: Project, people: dict[str, User]) -> dict[str, User]:
    users = demo_accounts.create_accounts(f"simulated-{name}" for name in PACE)
    simulated = {name: users[f"simulated-{name}"] for name in PACE}
    wanted = [(people[name], name, Membership.Kind.PERSON) for name in ("annotator", "reviewer")]
    wanted += [(user, Membership.Role.ANNOTATOR, Membership.Kind.SIMULATED) for user in simulated.values()]
    for user, role, kind in wanted:
        if not project.memberships.filter(user=user).exists():
            add_member(by=people["manager"], project=project, user=user, role=role, kind=kind)
    return simulated


def _finish_round(project: Project, manager: User, say: Say) -> None:
    """Run one round in this process, because there may be no worker yet."""
    run = project.training_runs.filter(state__in=TrainingRun.LIVE).first()
    if run is None:
        run = runs.prepare_run(by=manager, project=project, trigger=TrainingRun.Trigger.MANUAL, seed=SEED)
    run = pipeline.run_through(run)
    for stage in run.stages.all():
        say(f"{stage.name}: {stage.figure}")
    if run.state != TrainingRun.State.DONE:
        raise DomainError(run.error or f"The demo's round ended as {run.state}.", code="demo_round_failed")
