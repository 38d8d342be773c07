"""Chains of labelled solutions carry the labels of their parts."""

from random import Random

from prm.labels import first_error, step_labels
from prm.sandbox import generate
from prm.sandbox.world import WorldConfig
from research.chains import join_solutions

TRACES = list(generate(WorldConfig(), split="pool", n=60))


def test_a_chain_joins_solutions_with_their_labels() -> None:
    for chain in join_solutions(TRACES, 8, Random(1)):
        owner = {trace.problem: trace for trace in TRACES}
        problems = [problem for problem in owner if problem in chain.problem]
        assert len(problems) > 1
        assert len(step_labels(chain)) == len(chain.steps)
        assert chain.final_answer_correct is None


def test_every_other_chain_ends_with_a_wrong_solution() -> None:
    by_text = {tuple(step.text for step in trace.steps): trace for trace in TRACES}
    for number, chain in enumerate(join_solutions(TRACES, 8, Random(2))):
        error = first_error(chain)
        assert error is not None
        assert (error >= 0) == bool(number % 2)
        if error >= 0:
            ends = [by_text[end] for end in by_text if tuple(step.text for step in chain.steps[-len(end) :]) == end]
            assert any(first_error(end) == error - (len(chain.steps) - len(end.steps)) for end in ends)


def test_a_chain_and_its_order_depend_on_the_seed_alone() -> None:
    first, again = (list(join_solutions(TRACES, 4, Random(3))) for _ in range(2))
    assert first == again
