"""A generation: a frozen selection of solutions, recorded with how it was drawn, that becomes queue items."""

import secrets
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotation import audit
from annotation.errors import Conflict, DomainError
from annotation.membership.access import require_role
from annotation.models import (
    Annotation,
    Generation,
    Lane,
    Lease,
    Membership,
    ModelVersion,
    Project,
    ProjectPolicy,
    Solution,
    Split,
    TrainingRun,
)
from annotation.quality.batches import in_use
from annotation.queue.items import Selection, replace_items
from annotation.rounds import ranking, registry
from annotation.rounds.lanes import draw, draw_by_stratum, interleave, share_budget

RANDOM = "random"


@dataclass
class Candidate:
    """A solution that may be chosen, and how many annotations it has of the kinds that train."""

    id: int
    split: str
    domain: str
    given: int


@dataclass
class Plan:
    """What a generation will hold, in serving order, and what it was drawn from."""

    acquisition: str
    pool_size: int
    shares: dict[str, int]
    selections: list[Selection] = field(default_factory=list)


def open_first_generation(*, by: User, project: Project, seed: int | None = None) -> Generation:
    """Open the stratified random start.

    Raises Forbidden, Conflict (`generation_exists`), DomainError (`nothing_to_label`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    if project.generations.exists():
        raise Conflict("generation_exists", "The first generation is there already.")
    return open_generation(by=by, project=project, model=None, seed=new_seed() if seed is None else seed)


def open_next_generation(*, by: User, project: Project) -> Generation:
    """Replace the open generation by a new one that the champion ranks; random while no model serves.

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
) -> Generation:
    """Open a generation ranked by `model` (at random without one) and retire the one before.

    A run opens one generation: a second call returns it. Raises DomainError (`nothing_to_label`)
    where every solution has its annotations, unless a run asks: it then opens an empty one.
    """
    if run is not None and (opened := Generation.objects.filter(run=run).first()):
        return opened
    policy = project.policies
    plan = _plan(project, policy, model, np.random.default_rng(seed))
    if not plan.selections and run is None:
        raise DomainError(
            "nothing_to_label", "No solution here still needs annotations. Import more solutions to label."
        )
    return _open(project, model, run, by, seed, policy.generation_budget, plan)


def candidates_of(project: Project) -> list[Candidate]:
    """Every solution that nobody has in hand, with its annotations of the kinds that train."""
    policy = project.policies
    held = Lease.objects.filter(solution=OuterRef("pk"), state=Lease.State.ACTIVE)
    most = max(policy.annotations_wanted, policy.overlap_wanted)
    rows = (
        Solution.objects.filter(project=project)
        .filter(~Exists(held))
        .annotate(
            given=Count(
                "annotations",
                # Every annotation has exactly one first revision.
                # Those set aside do not count: somebody else is asked.
                filter=Q(annotations__revision=1, annotations__source__kind__in=policy.training_sources)
                & Q(annotations__in=in_use(Annotation.objects.filter(project=project))),
            )
        )
        .filter(given__lt=most)
        .order_by("pk")
        .values_list("pk", "split", "problem__domain", "given")
    )
    return [Candidate(*row) for row in rows]


def new_seed() -> int:
    return secrets.randbelow(2**31)


def _plan(project: Project, policy: ProjectPolicy, model: ModelVersion | None, rng: np.random.Generator) -> Plan:
    candidates = candidates_of(project)
    by_id = {c.id: c for c in candidates}
    open_ = [c for c in candidates if c.given < policy.annotations_wanted]
    untouched = [c for c in open_ if c.given == 0 and c.split == Split.POOL]
    shares = share_budget(policy.generation_budget, policy.mix)
    chosen: dict[str, list[Selection]] = {}

    def take(lane: str, ids: Iterable[int], probability: float, wanted: int) -> None:
        chosen[lane] = [
            Selection(
                solution_id=id_,
                lane=lane,
                wanted=max(wanted - by_id[id_].given, 1),
                inclusion_probability=probability,
            )
            for id_ in ids
        ]

    for lane, split in ((Lane.HOLDOUT, Split.HOLDOUT), (Lane.CALIBRATION, Split.CALIBRATION)):
        of_split = [c.id for c in open_ if c.split == split]
        take(lane, *draw(of_split, shares[lane], rng), policy.annotations_wanted)
    begun = [c.id for c in candidates if 0 < c.given < policy.overlap_wanted]
    # At the start nothing has a first annotation yet: then both annotators are asked in this generation.
    again = begun or [c.id for c in untouched]
    take(Lane.OVERLAP, *draw(_without(again, chosen), shares[Lane.OVERLAP], rng), policy.overlap_wanted)

    free = set(_without((c.id for c in untouched), chosen))
    pool = [c for c in untouched if c.id in free]
    if model is None:
        count = shares[Lane.CONTROL] + shares[Lane.ACQUISITION]
        drawn = draw_by_stratum(_by_domain(pool), count, rng)
        chosen[Lane.CONTROL] = [
            Selection(
                solution_id=id_, lane=Lane.CONTROL, wanted=policy.annotations_wanted, inclusion_probability=probability
            )
            for id_, probability in drawn.items()
        ]
    else:
        take(Lane.CONTROL, *draw([c.id for c in pool], shares[Lane.CONTROL], rng), policy.annotations_wanted)
        rankable = _without([c.id for c in open_ if c.split == Split.POOL], chosen)
        chosen[Lane.ACQUISITION] = [
            Selection(
                solution_id=one.id,
                lane=Lane.ACQUISITION,
                wanted=policy.annotations_wanted - by_id[one.id].given,
                inclusion_probability=one.inclusion_probability,
                gain=one.gain,
                expected_seconds=one.expected_seconds,
            )
            for one in ranking.rank_pool(project, model, rankable, shares[Lane.ACQUISITION], rng)
        ]
    selections = {s.solution_id: s for lane in chosen.values() for s in lane}
    order = interleave({lane: [s.solution_id for s in some] for lane, some in chosen.items()}, rng)
    return Plan(
        acquisition=RANDOM if model is None else ranking.acquisition_of(project),
        pool_size=len(candidates),
        shares={lane: len(some) for lane, some in chosen.items()},
        selections=[selections[id_] for _, id_ in order],
    )


def _without(ids: Iterable[int], chosen: dict[str, list[Selection]]) -> list[int]:
    taken = {s.solution_id for lane in chosen.values() for s in lane}
    return [id_ for id_ in ids if id_ not in taken]


def _by_domain(candidates: list[Candidate]) -> dict[str, list[int]]:
    strata: dict[str, list[int]] = defaultdict(list)
    for candidate in candidates:
        strata[candidate.domain].append(candidate.id)
    return strata


@transaction.atomic
def _open(
    project: Project,
    model: ModelVersion | None,
    run: TrainingRun | None,
    by: User | None,
    seed: int,
    budget: int,
    plan: Plan,
) -> Generation:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    earlier = project.generations.filter(state=Generation.State.OPEN)
    earlier.update(state=Generation.State.RETIRED, retired_at=timezone.now())
    last = project.generations.aggregate(last=Max("number"))["last"]
    generation = Generation.objects.create(
        project=project,
        number=0 if last is None else last + 1,
        model_version=model,
        run=run,
        acquisition=plan.acquisition,
        mix=plan.shares,
        seed=seed,
        budget=budget,
        pool_size=plan.pool_size,
    )
    replace_items(generation=generation, selections=plan.selections, by=by)
    audit.record(
        by=by,
        action="generation.open",
        target=generation,
        project=project,
        after={"number": generation.number, "model": model.number if model else None, "lanes": plan.shares},
    )
    return generation
