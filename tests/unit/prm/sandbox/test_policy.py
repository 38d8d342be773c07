"""Policies of the sandbox: sampled text becomes steps, and answers are graded as the world grades them."""

import pytest

from prm.backbones import load_backbone
from prm.encoding import parse_step, render_step
from prm.sandbox import WorldConfig, generate, generate_pools
from prm.sandbox.policy import BackbonePolicy, sample_solutions
from prm.sandbox.solving import Start, final_answer
from prm.traces import Step

WORLD = WorldConfig()


@pytest.fixture(scope="module")
def tiny():
    return load_backbone("tiny", device="cpu")


@pytest.fixture(scope="module")
def problems():
    return list(generate(WORLD, split="holdout", n=300, seed=5))


def test_answers_are_graded_as_the_world_grades_them(problems):
    graded = [(final_answer(t.steps) == t.reference_answer) == t.final_answer_correct for t in problems]
    assert all(graded)


@pytest.mark.parametrize("steps", [[], [Step("Let us see.")], [Step("The answer is 3."), Step("So far so good.")]])
def test_a_solution_that_ends_without_an_answer_has_none(steps):
    assert final_answer(steps) is None


@pytest.mark.parametrize("step", [Step("3 + 4 = 7"), Step("get(1)", "tool_call"), Step("[note] mine")])
def test_a_step_survives_being_rendered(step):
    assert parse_step(render_step(step)) == step


def test_the_same_seed_gives_the_same_steps_and_another_seed_others(tiny, problems):
    policy = BackbonePolicy(tiny, most_tokens=40)
    starts = [Start(t.problem, t.steps[:k]) for k, t in enumerate(problems[:3])]
    first = policy.continue_from(starts, seed=1)
    assert policy.continue_from(starts, seed=1) == first
    assert policy.continue_from(starts, seed=2) != first


def test_a_start_is_gone_on_from_as_if_it_stood_alone(tiny, problems):
    """At next to no temperature the likeliest text is written, whatever stands beside it in the batch."""
    policy = BackbonePolicy(tiny, temperature=1e-4, most_tokens=30)
    starts = [Start(t.problem, t.steps[:k]) for k, t in enumerate(problems[:4])]
    together = policy.continue_from(starts, seed=0)
    assert together == [policy.continue_from([start], seed=0)[0] for start in starts]
    assert any(together)


def test_sampled_solutions_carry_a_grade_and_no_labels(tiny, problems):
    found = list(sample_solutions(BackbonePolicy(tiny, most_tokens=60), problems[:2], samples=3, seed=0))
    assert [t.problem_id for t in found] == [t.problem_id for t in problems[:2] for _ in range(3)]
    assert len({t.id for t in found}) == 6
    assert all(t.labels is None and t.final_answer_correct is not None for t in found)


def test_a_pool_begins_with_the_solutions_of_the_world():
    pools = list(generate_pools(WORLD, split="holdout", problems=4, samples=5, seed=5))
    assert [sum(t.problem_id == p for t in pools) for p in dict.fromkeys(t.problem_id for t in pools)] == [5] * 4
    assert [t for t in generate(WORLD, split="holdout", n=7, seed=5) if t in pools] == list(
        generate(WORLD, split="holdout", n=7, seed=5)
    )
