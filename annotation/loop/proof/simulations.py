"""Requests and resumes simulations."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import resume_job, send
from annotation.core.membership.access import require_role
from annotation.loop.selection.composition import RANDOM
from annotation.models import Membership, Project, SimulationRun, Snapshot
from prm.acquisition import FUNCTIONS
from prm.errors import UnknownNameError
from prm.messages import Message
from prm.vocabulary import SPLITS

BASELINES = (RANDOM, "wrong_answers")  # a chance draw, and the best filter that needs no model
LEAST_BUDGET = 40
MOST_SEEDS = 20


@transaction.atomic
def start_simulation(
    *, by: User, project: Project, snapshot: Snapshot, functions: Sequence[str], seeds: int, budget: int
) -> SimulationRun:
    """Replay a snapshot with these acquisition functions and the baselines, up to `budget` labelled solutions.

    Raises Forbidden, DomainError (`invalid_simulation`), Conflict (`simulation_in_progress`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    chosen = list(dict.fromkeys([*BASELINES, *functions]))
    _check(snapshot, chosen, seeds, budget)
    try:
        with transaction.atomic():
            simulation = SimulationRun.objects.create(
                project=project, snapshot=snapshot, functions=chosen, seeds=seeds, budget=budget, requested_by=by
            )
    except IntegrityError:
        raise _in_progress(project) from None
    audit.record(
        by=by,
        action="simulation.start",
        target=simulation,
        after={"snapshot": snapshot.sha256, "functions": chosen, "seeds": seeds, "budget": budget},
    )
    send(simulation)
    return simulation


def replayable_snapshots(project: Project) -> QuerySet[Snapshot]:
    """The snapshots with labels in every split, latest first."""
    return project.snapshots.filter(**{f"counts__splits__{split}__gt": 0 for split in SPLITS})


def resume_simulation(*, by: User, job: SimulationRun) -> SimulationRun:
    """Resume a simulation where it stopped. Raises as `resume_job`, Conflict (`simulation_in_progress`)."""
    try:
        return resume_job(by=by, job=job)
    except IntegrityError:
        raise _in_progress(job.project) from None


def _check(snapshot: Snapshot, chosen: Sequence[str], seeds: int, budget: int) -> None:
    splits = snapshot.counts.get("splits", {})
    try:
        for name in chosen:
            FUNCTIONS.check(name)
    except UnknownNameError as error:
        raise _invalid("functions", error.args[0]) from None
    if not 1 <= seeds <= MOST_SEEDS:
        raise _invalid("seeds", Message("seeds_out_of_range", most=MOST_SEEDS))
    if missing := [name for name in SPLITS if not splits.get(name)]:
        needed = Message("simulation_needs_three_parts")
        raise _invalid("snapshot", Message("snapshot_lacks_part", missing=missing[0], needed=needed))
    if not LEAST_BUDGET <= budget <= splits["pool"]:
        raise _invalid("budget", Message("budget_out_of_range", least=LEAST_BUDGET, most=splits["pool"]))


def _invalid(field: str, message: str) -> DomainError:
    return DomainError(message, {"field": field}, code="invalid_simulation")


def _in_progress(project: Project) -> Conflict:
    live = project.simulations.get(state__in=SimulationRun.LIVE)
    message = Message("simulation_in_progress")
    return Conflict(message, {"simulation": live.pk}, code="simulation_in_progress")
