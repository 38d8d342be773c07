"""The sandbox world: deterministic, split by source group, and true to its own labels."""

import hashlib
import re
from collections import Counter
from fractions import Fraction
from itertools import islice

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.sandbox import WORLD_VERSION, WorldConfig, corpus, generate
from prm.sandbox.work import SKILLS
from prm.sandbox.world import skill_weights, source_group, use_of

WORLD = WorldConfig()
SPLITS = ("pool", "calibration", "holdout")
# Changes when any generated text or label changes: raise WORLD_VERSION then, and make the tiny backbone anew.
FROZEN = {1: "15531b6c388cf667"}


@pytest.fixture(scope="module")
def pool():
    return list(generate(WORLD, split="pool", n=3000, seed=0))


@pytest.mark.slow
def test_the_world_is_frozen():
    digest = hashlib.sha256()
    for split in SPLITS:
        for trace in generate(WORLD, split=split, n=300, seed=0):
            digest.update(msgspec.json.encode(trace, order="deterministic"))
    for problem, steps in corpus(WORLD, n=300, seed=0):
        digest.update(msgspec.json.encode([problem, steps], order="deterministic"))
    assert digest.hexdigest()[:16] == FROZEN[WORLD_VERSION]


@given(seed=st.integers(0, 2**32), split=st.sampled_from(SPLITS))
@settings(max_examples=20, deadline=None)
def test_the_same_seed_gives_the_same_traces_however_many_are_asked_for(seed, split):
    few = list(generate(WORLD, split=split, n=5, seed=seed))
    assert few == list(islice(generate(WORLD, split=split, n=8, seed=seed), 5))


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_no_source_group_is_shared_by_two_splits_or_with_the_corpus(seed):
    groups = {split: {t.source_group for t in generate(WORLD, split=split, n=40, seed=seed)} for split in SPLITS}
    assert not groups["pool"] & groups["holdout"]
    assert not groups["pool"] & groups["calibration"]
    assert not groups["calibration"] & groups["holdout"]
    templates = {group.split("/")[1] for found in groups.values() for group in found}
    for problem, _ in corpus(WORLD, n=40, seed=seed):
        assert source_group("", problem)[1:] not in templates


@given(world_seed=st.integers(0, 100), name=st.text(max_size=20))
def test_every_group_has_exactly_one_use(world_seed, name):
    world = WorldConfig(seed=world_seed)
    assert use_of(world, name) == use_of(world, name)
    assert use_of(world, name) in {*SPLITS, "corpus"}


def test_numeric_variants_of_a_text_share_their_source_group():
    assert source_group("s", "Ann has 3 cups.") == source_group("s", "Ann has 17 cups.")
    assert source_group("s", "Ann has 3 cups.") != source_group("s", "Ben has 3 cups.")


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="training"):
        next(generate(WORLD, split="training", n=1))


def test_there_are_40_to_80_skills_of_very_unequal_frequency_in_three_domains(pool):
    assert 40 <= len(SKILLS) <= 80
    weights = sorted(skill_weights(WORLD).values())
    assert sum(weights) == pytest.approx(1)
    assert weights[-1] > 10 * weights[0]
    assert {skill.domain for skill in SKILLS.values()} == {"math", "programs", "agents"}
    assert len({trace.meta["skill"] for trace in pool}) > 0.9 * len(SKILLS)


@pytest.mark.slow
def test_every_skill_appears_in_every_split():
    for split in SPLITS:
        missing = set(SKILLS)
        for trace in generate(WORLD, split=split, n=2500, seed=3):
            missing.discard(trace.meta["skill"])
            if not missing:
                break
        assert not missing


def test_a_solution_without_error_ends_in_the_reference_answer(pool):
    for trace in pool:
        if trace.first_error == -1:
            assert trace.final_answer_correct
            assert all(rating >= 0 for rating in trace.meta["truth"])
            assert trace.reference_answer in trace.steps[-1].text or "ambiguous" in trace.meta


def test_labels_reach_the_first_error_and_no_further(pool):
    for trace in pool:
        if trace.first_error < 0:
            assert None not in trace.labels
        else:
            ratings = [label.rating for label in trace.labels[: trace.first_error + 1]]
            assert ratings[-1] == -1
            assert -1 not in ratings[:-1]
            assert set(trace.labels[trace.first_error + 1 :]) <= {None}


def test_cancelling_errors_end_in_the_right_answer_though_there_is_a_first_error(pool):
    cancelling = [trace for trace in pool if trace.meta["error_kind"] == "cancelling"]
    assert cancelling
    for trace in cancelling:
        assert trace.final_answer_correct
        assert trace.first_error >= 0
        assert trace.meta["truth"].count(-1) == 2


def test_every_kind_of_error_and_every_turn_occurs(pool):
    kinds = Counter(trace.meta["error_kind"] for trace in pool)
    everywhere = {"slip", "wrong_operation", "lost_term", "copied_number", "unjustified_jump"}
    assert set(kinds) == {None, "misconception", "cancelling"} | everywhere
    assert 0.3 < kinds[None] / len(pool) < 0.7
    assert any(trace.meta["unconventional"] and trace.first_error == -1 for trace in pool)
    disputed = [(trace, position) for trace in pool for position in trace.meta["ambiguous"]]
    assert disputed
    for trace, position in disputed:
        label = trace.labels[position]
        assert label is None or max(label.good, label.neutral, label.bad) < 0.9


def test_solutions_have_3_to_12_steps_and_a_tail_of_longer_ones(pool):
    lengths = Counter(len(trace.steps) for trace in pool)
    assert min(lengths) >= 2
    assert sum(n for length, n in lengths.items() if 3 <= length <= 12) > 0.95 * len(pool)
    assert max(lengths) > 12


def test_some_problems_have_several_solutions_by_generators_of_different_strength(pool):
    assert max(Counter(trace.problem_id for trace in pool).values()) > 1
    wrong = Counter(trace.generator for trace in pool if trace.first_error >= 0)
    total = Counter(trace.generator for trace in pool)
    weak, medium, strong = (wrong[f"sandbox-{s}"] / total[f"sandbox-{s}"] for s in ("weak", "medium", "strong"))
    assert weak > medium > strong


EQUATION = re.compile(r"(?<![\w/*+.()-] )(?<![\w/*+.()-])(\d+(?: [-+*/] \d+)+) = (-?\d+(?:/\d+)?)(?!/|\d| [-+*/=])")


def test_plain_equations_in_right_steps_are_true(pool):
    checked = 0
    for trace in pool:
        for step, rating in zip(trace.steps, trace.meta["truth"], strict=True):
            for left, right in EQUATION.findall(step.text):
                if rating == 1:
                    numbers = re.sub(r"\d+", lambda m: f"Fraction({m[0]})", left)
                    assert eval(numbers, {"Fraction": Fraction}) == Fraction(right), (trace.id, step.text)
                    checked += 1
    assert checked > 1000


def test_a_mistake_is_carried_on(pool):
    carried = [t for t in pool if t.first_error >= 0 and len(t.meta["truth"]) > t.first_error + 1]
    later = [rating for trace in carried for rating in trace.meta["truth"][trace.first_error + 1 :]]
    assert later.count(1) > 0.7 * len(later)
    assert sum(not trace.final_answer_correct for trace in carried) > 0.6 * len(carried)


def test_a_pool_of_rare_errors_is_measured_on_the_same_problems_as_ever():
    rare = WorldConfig(pool_errors=0.15)
    wrong = [trace.first_error != -1 for trace in generate(rare, split="pool", n=400, seed=5)]
    assert 0.04 < sum(wrong) / len(wrong) < 0.18
    assert list(generate(rare, split="holdout", n=20, seed=5)) == list(generate(WORLD, split="holdout", n=20, seed=5))


def test_a_shifted_pool_has_its_own_frequencies_of_skills():
    shifted = WorldConfig(zipf=0.0, pool_zipf=1.5)
    assert len({round(weight, 9) for weight in skill_weights(shifted, "holdout").values()}) <= 3
    assert max(skill_weights(shifted, "pool").values()) > 3 * max(skill_weights(shifted, "holdout").values())


def test_asides_make_solutions_longer_and_change_no_answer():
    plain, long = (list(generate(w, split="holdout", n=200, seed=5)) for w in (WORLD, WorldConfig(aside=0.6)))
    assert sum(len(t.steps) for t in long) > 1.3 * sum(len(t.steps) for t in plain)
    assert [t.reference_answer for t in long] == [t.reference_answer for t in plain]
