"""Opens generations: frozen selections of solutions that become queue items, with a record of how they were drawn."""

import secrets
from functools import partial

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.core import audit, jobs
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.core.wording import as_message
from annotation.loop import registry
from annotation.loop.selection import ranking
from annotation.loop.selection.cold_start import SURPRISAL, rank_by_surprise
from annotation.loop.selection.composition import Plan, compose
from annotation.loop.selection.routing import route_selections
from annotation.models import Generation, Membership, ModelVersion, Project, TrainingRun
from annotation.work.queue.items import replace_items
from prm.messages import Message


def request_first_generation(*, by: User, project: Project) -> Generation | None:
    """Open the first generation; returns None if a worker opens it, after the backbone has read the pool.

    Raises Forbidden, Conflict (`generation_exists`), DomainError (`nothing_to_label`).
    """
    if project.policies.cold_start == "random":
        return open_first_generation(by=by, project=project)
    require_role(by, project, Membership.Role.MANAGER)
    _check_first(project)
    jobs.enqueue("rounds.open_first", project.pk, by.pk, queue="score")
    return None


def open_first_generation(*, by: User, project: Project, seed: int | None = None) -> Generation:
    """Open the first generation: stratified at random, or ranked by the backbone if the policy says so.

    Raises Forbidden, Conflict (`generation_exists`), DomainError (`nothing_to_label`, `model_unusable`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    _check_first(project)
    seed = new_seed() if seed is None else seed
    if project.policies.cold_start == "random":
        return open_generation(by=by, project=project, model=None, seed=seed, first=True)
    rng = np.random.default_rng(seed)
    plan = compose(project, rng=rng, ranker=partial(rank_by_surprise, project), acquisition=SURPRISAL)
    return _open(project, None, None, by, seed, _not_empty(plan), first=True)


def open_requested(project_id: int, user_id: int) -> None:
    """The worker's part of `request_first_generation`; a second call does nothing.

    If the backbone cannot be loaded, the generation is drawn at random and its recipe has the reason.
    """
    project, by = Project.objects.get(pk=project_id), User.objects.get(pk=user_id)
    try:
        open_first_generation(by=by, project=project)
    except DomainError as error:
        if error.code == "generation_exists":
            return
        if error.code not in ("model_unusable", "backbone_not_listed"):
            raise
        note = as_message(error.message)
        open_generation(by=by, project=project, model=None, seed=new_seed(), note=note, first=True)


def open_next_generation(*, by: User, project: Project) -> Generation:
    """Replace the open generation by a new one that the champion ranks, or a random one without a champion.

    Raises Forbidden, DomainError (`nothing_to_label`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    return open_generation(by=by, project=project, model=registry.champion_of(project), seed=new_seed())


def open_generation(
    *,
    project: Project,
    model: ModelVersion | None,
    seed: int,
    run: TrainingRun | None = None,
    by: User | None = None,
    note: Message | None = None,
    first: bool = False,
) -> Generation:
    """Open a generation ranked by `model` (at random without one) and retire the one before.

    A run opens one generation: a second call returns it. If every solution has its annotations, a run opens an empty
    generation; otherwise raises DomainError (`nothing_to_label`). A `first` generation is refused if the project has
    one already: raises Conflict (`generation_exists`).
    """
    if run is not None and (opened := Generation.objects.filter(run=run).first()):
        return opened
    rng = np.random.default_rng(seed)
    if model is None:
        plan = compose(project, rng=rng)
    else:
        ranker = partial(ranking.rank_pool, project, model)
        plan = compose(project, rng=rng, ranker=ranker, acquisition=ranking.acquisition_of(project))
    if note:
        plan.recipe.note = note
    return _open(project, model, run, by, seed, plan if run else _not_empty(plan), first=first)


def new_seed() -> int:
    return secrets.randbelow(2**31)


def _check_first(project: Project) -> None:
    if project.generations.exists():
        raise Conflict(Message("generation_exists"))


def _not_empty(plan: Plan) -> Plan:
    if not plan.selections:
        raise DomainError(Message("nothing_to_label"))
    return plan


@transaction.atomic
def _open(
    project: Project,
    model: ModelVersion | None,
    run: TrainingRun | None,
    by: User | None,
    seed: int,
    plan: Plan,
    *,
    first: bool = False,
) -> Generation:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if first:  # again: another request may have opened it during the draw
        _check_first(project)
    earlier = project.generations.filter(state=Generation.State.OPEN)
    earlier.update(state=Generation.State.RETIRED, retired_at=timezone.now())
    last = project.generations.aggregate(last=Max("number"))["last"]
    plan.recipe.routes = project.policies.routing.rules
    generation = Generation.objects.create(
        project=project,
        number=0 if last is None else last + 1,
        model_version=model,
        run=run,
        acquisition=plan.acquisition,
        mix=plan.shares,
        recipe=plan.recipe,
        seed=seed,
        budget=project.policies.generation_budget,
        pool_size=plan.pool_size,
    )
    selections = route_selections(project, plan.selections, model=model, seed=seed)
    replace_items(generation=generation, selections=selections, by=by)
    audit.record(
        by=by,
        action="generation.open",
        target=generation,
        after={"number": generation.number, "model": model.number if model else None, "lanes": plan.shares},
    )
    return generation
