"""What a generation is drawn from and with which chances, from the scores in the database to the items."""

from functools import partial

import numpy as np
import pytest

from annotation.core.errors import Conflict
from annotation.loop.pool.partitions import create_partition, write_scores
from annotation.loop.selection import generations, ranking
from annotation.loop.selection.candidates import candidates_of, lengths_and_generators
from annotation.loop.selection.composition import compose
from annotation.loop.selection.reading_times import cost_model
from annotation.models import Generation, PoolScore, Solution
from prm.vocabulary import SPLITS
from tests.factories import (
    AnnotationFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProblemFactory,
    ProjectFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db
HEADS = 4


def scored_pool(n=40, **policy):
    """A project of `n` solutions, four of a problem in two domains, and a model that scored all but the last two."""
    project = ProjectFactory(policy={"generation_budget": 12, "mix": {"holdout": 0, "calibration": 0}, **policy})
    rng = np.random.default_rng(0)
    solutions = []
    for k in range(n):
        if k % 4 == 0:
            problem = ProblemFactory(project=project, domain="ab"[k // 4 % 2])
        steps = ["x" * int(size) for size in rng.integers(1, 90, 1 + k % 5)]
        solutions.append(SolutionFactory(project=project, problem=problem, steps=steps, generator=f"model {k % 3}"))
    version = ModelVersionFactory(project=project)
    create_partition(version)
    write_scores(version, [score(version, one, rng) for one in solutions[:-2]])
    return project, version, solutions


def score(version, solution, rng):
    steps = solution.steps.count()
    cut = solution.pk % 3 == 0 and steps > 1  # its last step did not fit
    p = rng.uniform(0.1, 0.9, (steps - cut, HEADS))
    return PoolScore(
        model_version=version,
        solution=solution,
        mean=[*p.mean(axis=1).tolist(), *[None] * cut],
        spread=[0.1] * steps,
        score=0.5,
        heads=p.astype("<f2").tobytes(),
        embedding=b"" if solution.pk % 7 == 0 else rng.normal(size=32).astype("<f2").tobytes(),
        unscored_steps=int(cut),
    )


def test_scores_come_from_the_database_as_columns():
    project, version, solutions = scored_pool()
    scored, pool = ranking.scored_of(version, candidates_of(project).without([solutions[0].pk]))
    by_pk = {one.pk: one for one in solutions}
    assert sorted(scored.ids.tolist()) == sorted(by_pk)[1:-2]
    ends = np.cumsum(pool.steps)
    for place, pk in enumerate(scored.ids.tolist()):
        stored = PoolScore.objects.get(model_version=version, solution=pk)
        rows = slice(ends[place] - pool.steps[place], ends[place])
        known = [p for p in stored.mean if p is not None]
        assert pool.p[rows].astype(float).mean(axis=1) == pytest.approx(known, abs=1e-3)
        lengths = [len(step.text) for step in by_pk[pk].steps.order_by("position")]
        assert pool.chars[rows].tolist() == lengths[: len(known)]
        assert np.isnan(pool.embedding[place]).all() == (pk % 7 == 0)
        assert scored.problem[place] == by_pk[pk].problem_id
    assert ranking.scored_of(ModelVersionFactory(project=project), candidates_of(project)) is None


def test_candidates_are_the_columns_of_their_solutions():
    project, _version, solutions = scored_pool(12)
    held = SolutionFactory(project=project, problem=ProblemFactory(project=project, domain="c", split="holdout"))
    AnnotationFactory(solution=solutions[3], annotator=MembershipFactory(project=project))
    found = candidates_of(project)
    assert found.ids.tolist() == [one.pk for one in [*solutions, held]]
    assert found.problem.tolist() == [one.problem_id for one in [*solutions, held]]
    assert [SPLITS[split] for split in found.split.tolist()] == ["pool"] * 12 + ["holdout"]
    assert found.domain.tolist() == [0] * 4 + [1] * 4 + [0] * 4 + [2]  # numbered in the order of their first use
    assert found.labels.tolist() == [0] * 3 + [1] + [0] * 9
    assert len(candidates_of(ProjectFactory())) == 0


def test_lengths_and_generators_are_those_of_the_candidates():
    project, _version, solutions = scored_pool(10)
    bins, generators = lengths_and_generators(project, np.array([one.pk for one in solutions]))
    assert bins.tolist() == [1, 2, 2, 3, 3] * 2
    assert len(set(zip(generators.tolist(), (one.generator for one in solutions), strict=True))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["first_error_bald", "random"])
def test_chances_are_exact_in_every_lane(name):
    """One over the chance, summed over what a lane drew, is on average how many it was drawn from: Horvitz-Thompson."""
    project, version, _solutions = scored_pool(acquisition=name, caps={"problem": 1, "domain": 0.7})
    ranker = partial(ranking.rank_pool, project, version)
    found = {"control": [], "acquisition": [], "overlap": []}
    for seed in range(120):
        plan = compose(project, rng=np.random.default_rng(seed), ranker=ranker, acquisition=name)
        for lane, sums in found.items():
            items = [s for s in plan.selections if s.lane == lane]
            sums.append(sum(1 / s.inclusion_probability for s in items) / plan.recipe.lanes[lane].from_)
    for lane, sums in found.items():
        assert np.mean(sums) == pytest.approx(1, abs=4 * np.std(sums) / len(sums) ** 0.5 + 1e-9), lane


def test_the_caps_hold_and_the_recipe_tells_how_it_was_drawn():
    project, version, _solutions = scored_pool(
        acquisition="convincing_wrong_answer", caps={"problem": 1, "domain": 0.5}
    )
    ranker = partial(ranking.rank_pool, project, version)
    plan = compose(project, rng=np.random.default_rng(1), ranker=ranker, acquisition="convincing_wrong_answer")
    chosen = Solution.objects.select_related("problem").in_bulk(
        [s.solution_id for s in plan.selections if s.lane == "acquisition"]
    )
    problems = [one.problem_id for one in chosen.values()]
    domains = [one.problem.domain for one in chosen.values()]
    assert len(set(problems)) == len(problems) == 9
    assert max(domains.count("a"), domains.count("b")) == 5  # two domains get an even share at least
    recipe = plan.recipe.lanes["acquisition"]
    assert recipe.how == "ranked"
    assert recipe.drawn == 9
    assert recipe.without_outcome == recipe.from_
    assert recipe.cost == cost_model(project)


@pytest.mark.slow
def test_the_first_generation_may_be_ranked_by_surprise():
    project, _version, _solutions = scored_pool(30, cold_start="surprisal")
    manager = MembershipFactory(project=project, role="manager").user
    assert generations.request_first_generation(by=manager, project=project) is None
    assert not project.generations.exists()
    generations.open_requested(project.pk, manager.pk)
    generations.open_requested(project.pk, manager.pk)
    generation = Generation.objects.get(project=project)
    assert (generation.number, generation.acquisition, generation.model_version) == (0, "surprisal", None)
    recipe = generation.recipe.lanes["acquisition"]
    assert (recipe.read, recipe.backbone, recipe.cost.stops_at_error) == (recipe.from_, "tiny", False)
    ranked = generation.items.filter(lane="acquisition")
    assert all(item.gain > 0 and 0 < item.inclusion_probability <= 1 for item in ranked)
    assert {item.lane for item in generation.items.all()} >= {"acquisition", "control"}
    with pytest.raises(Conflict):
        generations.request_first_generation(by=manager, project=project)


@pytest.mark.slow
@pytest.mark.parametrize("cold_start", ["random", "surprisal"])
def test_two_requests_at_the_same_time_open_one_first_generation(monkeypatch, cold_start):
    project, _version, _solutions = scored_pool(30, cold_start=cold_start)
    manager = MembershipFactory(project=project, role="manager").user
    composed = generations.compose

    def compose_beside_another(*arguments, **options):
        monkeypatch.setattr(generations, "compose", composed)
        generations.open_first_generation(by=manager, project=project)
        return composed(*arguments, **options)

    monkeypatch.setattr(generations, "compose", compose_beside_another)
    if cold_start == "random":
        with pytest.raises(Conflict, match="already open"):
            generations.open_first_generation(by=manager, project=project)
    else:
        generations.open_requested(project.pk, manager.pk)
    assert [generation.number for generation in project.generations.all()] == [0]


@pytest.mark.slow
@pytest.mark.parametrize("listed", [["/nowhere"], []])
def test_a_backbone_that_is_not_there_or_not_listed_leaves_the_start_to_chance(settings, listed):
    settings.BACKBONES = listed
    project, _version, _solutions = scored_pool(12, cold_start="surprisal", backbone="/nowhere/at/all")
    manager = MembershipFactory(project=project, role="manager").user
    generations.open_requested(project.pk, manager.pk)
    generation = project.generations.get()
    assert generation.acquisition == "random"
    assert "/nowhere/at/all" in generation.recipe.note
