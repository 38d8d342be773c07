"""A project in its second generation: people labelled both lanes, with times, and some of the holdout."""

from django.contrib.auth.models import User

from annotation.core.membership.members import add_member
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.rounds.work import StageWork
from annotation.management.demo.labelling import PACE, work_through_queue
from annotation.models import Generation, Membership, Project, RunStage, TrainingRun
from annotation.work.queue.items import Selection, replace_items
from tests.factories import UserFactory
from tests.rounds_world import labelled_project

LABELLED, UNLABELLED = 70, 90
CHANCES = {"acquisition": 0.5, "control": 0.3, "holdout": 0.2}


def project_of_two_lanes(by: User, **policy) -> Project:
    """Imported labels, and a generation 1 whose items simulated people labelled through the queue."""
    policy = {"training_sources": ["human", "simulated"], "training": {"epochs": 1, "heads": 3, "hidden": 8}} | policy
    project = labelled_project(by, labelled=LABELLED, unlabelled=UNLABELLED, **policy)
    generation = open_by_hand(project, by, number=1)
    people = {profile: UserFactory() for profile in PACE}
    for user in people.values():
        add_member(by=by, project=project, user=user, role=Membership.Role.ANNOTATOR, kind="simulated")
    assert generation.items.filter(lane="control").count() >= 25
    sandbox = Sandbox(solutions=LABELLED + UNLABELLED, seed=0)
    work_through_queue(project=project, annotators=people, sandbox=sandbox, seed=1)
    return project


def open_by_hand(project: Project, by: User, *, number: int) -> Generation:
    """The unlabelled pool in both lanes in turn, and the unlabelled holdout, each with a chance of its lane."""
    generation = Generation.objects.create(
        project=project, number=number, acquisition="first_error_bald", seed=1, budget=80, pool_size=UNLABELLED
    )
    new = project.solutions.filter(annotations__isnull=True).order_by("pk")
    pool, holdout = (list(new.filter(split=split).values_list("pk", flat=True)) for split in ("pool", "holdout"))
    lanes = [("acquisition", pool[::2]), ("control", pool[1::2]), ("holdout", holdout)]
    chosen = [
        Selection(solution_id=pk, lane=lane, wanted=1, inclusion_probability=CHANCES[lane])
        for lane, some in lanes
        for pk in some
    ]
    replace_items(generation=generation, selections=chosen, by=by)
    return generation


def shadow_work(project: Project, number: int = 1) -> StageWork:
    """A run of the project that has come as far as the comparison."""
    filters = {"source_kinds": project.policies.training_sources}
    snapshot = create_snapshot(by=None, project=project, filters=filters)
    run = TrainingRun.objects.create(
        project=project, number=number, state=TrainingRun.State.DONE, trigger="manual", seed=7, snapshot=snapshot
    )
    stage = RunStage.objects.create(run=run, name=RunStage.Name.SHADOW, order=7)
    return StageWork(run, stage)
