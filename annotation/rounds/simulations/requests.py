"""A simulation asked for, called off, and taken up again."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotation import audit, jobs
from annotation.errors import Conflict, DomainError
from annotation.membership.access import require_role
from annotation.models import Membership, Project, SimulationRun, Snapshot
from annotation.rounds.gateway.choosing import RANDOM, functions

TASK = "rounds.simulate"
LEAST_BUDGET = 40
MOST_SEEDS = 20


@transaction.atomic
def start_simulation(
    *, by: User, project: Project, snapshot: Snapshot, functions: Sequence[str], seeds: int, budget: int
) -> SimulationRun:
    """Replay a snapshot with these acquisition functions, up to `budget` labelled solutions; random is always one.

    Raises Forbidden, DomainError (`invalid_simulation`), Conflict (`simulation_in_progress`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    chosen = [RANDOM, *(name for name in dict.fromkeys(functions) if name != RANDOM)]
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
        project=project,
        after={"snapshot": snapshot.sha256, "functions": chosen, "seeds": seeds, "budget": budget},
    )
    jobs.enqueue(TASK, simulation.pk, queue="gpu")
    return simulation


@transaction.atomic
def cancel_simulation(*, by: User, simulation: SimulationRun) -> SimulationRun:
    """End a simulation within seconds; what is finished of it is kept.

    Raises Forbidden, Conflict (`simulation_over`).
    """
    require_role(by, simulation.project, Membership.Role.MANAGER)
    live = SimulationRun.objects.filter(pk=simulation.pk, state__in=SimulationRun.LIVE)
    if not live.update(cancel_requested=True):
        raise Conflict("simulation_over", _("This simulation is over already."))
    audit.record(by=by, action="simulation.cancel", target=simulation, project=simulation.project)
    # Nobody may be at it yet: whoever takes it up ends it.
    jobs.enqueue(TASK, simulation.pk, queue="gpu")
    simulation.refresh_from_db()
    return simulation


@transaction.atomic
def resume_simulation(*, by: User, simulation: SimulationRun) -> SimulationRun:
    """Go on where a simulation failed or was cancelled.

    Raises Forbidden, Conflict (`simulation_not_stopped`, `simulation_in_progress`).
    """
    require_role(by, simulation.project, Membership.Role.MANAGER)
    stopped = [SimulationRun.State.FAILED, SimulationRun.State.CANCELLED]
    before = simulation.state
    try:
        with transaction.atomic():
            changed = SimulationRun.objects.filter(pk=simulation.pk, state__in=stopped).update(
                state=SimulationRun.State.QUEUED,
                attempts=0,
                cancel_requested=False,
                error="",
                finished_at=None,
                heartbeat_at=None,
            )
    except IntegrityError:
        raise _in_progress(simulation.project) from None
    if not changed:
        raise Conflict("simulation_not_stopped", _("Only a simulation that failed or was cancelled can go on."))
    audit.record(
        by=by, action="simulation.resume", target=simulation, project=simulation.project, before={"state": before}
    )
    jobs.enqueue(TASK, simulation.pk, queue="gpu")
    simulation.refresh_from_db()
    return simulation


def _check(snapshot: Snapshot, chosen: Sequence[str], seeds: int, budget: int) -> None:
    known, splits = functions(), snapshot.counts.get("splits", {})
    if unknown := [name for name in chosen if name not in known]:
        raise _invalid("functions", f"There is no acquisition function {unknown[0]}; there are {', '.join(known)}.")
    if len(chosen) < 2:
        raise _invalid("functions", "Choose at least one function to compare with random.")
    if not 1 <= seeds <= MOST_SEEDS:
        raise _invalid("seeds", f"Choose 1 to {MOST_SEEDS} seeds.")
    if missing := [name for name in ("pool", "calibration", "holdout") if not splits.get(name)]:
        needed = "a simulation learns on the pool, calibrates on calibration and measures on the holdout"
        raise _invalid("snapshot", f"This snapshot has no labelled solution of the {missing[0]}: {needed}.")
    if not LEAST_BUDGET <= budget <= splits["pool"]:
        raise _invalid("budget", f"Choose a budget of {LEAST_BUDGET} to {splits['pool']} labelled pool solutions.")


def _invalid(field: str, message: str) -> DomainError:
    return DomainError("invalid_simulation", message, {"field": field})


def _in_progress(project: Project) -> Conflict:
    live = project.simulations.get(state__in=SimulationRun.LIVE)
    message = "A simulation of this project is in progress. Wait for it, or cancel it first."
    return Conflict("simulation_in_progress", message, {"simulation": live.pk})
