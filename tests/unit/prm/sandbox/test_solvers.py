"""Solvers that go on from what stands: rightly from right steps, consistently from an error."""

import json

import pytest

from prm.sandbox import WorldConfig, generate
from prm.sandbox.judge import JudgePolicy
from prm.sandbox.solvers import SolverPolicy, UnknownProblem, value_in
from prm.sandbox.solving import Start, final_answer
from prm.sandbox.work import Habits, Wrong
from prm.sandbox.world import GENERATORS
from prm.traces import Step

AMBIGUOUS = "nights_booked"  # its numbers are not in the problem: two problems of one text have two answers


@pytest.fixture(scope="module")
def traces():
    return [trace for trace in generate(WorldConfig(), split="holdout", n=300) if trace.meta["skill"] != AMBIGUOUS]


@pytest.fixture(scope="module")
def faultless():
    return SolverPolicy(Habits())


@pytest.mark.slow
def test_right_steps_are_led_to_the_right_answer_from_wherever_they_stop(faultless, traces):
    for trace in traces:
        if trace.first_error == -1:
            for k in range(len(trace.steps) + 1):
                [rest] = faultless.continue_from([Start(trace.problem, trace.steps[:k])], seed=1)
                assert final_answer([*trace.steps[:k], *rest]) == trace.reference_answer


def test_an_error_is_carried_to_the_answer_that_follows_from_it(faultless, traces):
    """For most: a few errors are of a kind that leaves no trace in a value."""
    carried = []
    for trace in traces:
        if trace.first_error >= 0 and not trace.final_answer_correct:
            begun = trace.steps[: trace.first_error + 1]
            [rest] = faultless.continue_from([Start(trace.problem, begun)], seed=1)
            carried.append(final_answer([*begun, *rest]) == final_answer(trace.steps))
    assert sum(carried) > 0.8 * len(carried)


@pytest.mark.slow
def test_the_judge_finds_most_first_errors_and_doubts_few_right_solutions(faultless, traces):
    judge, right = JudgePolicy(faultless), {True: [], False: []}
    for trace in traces[:200]:
        tagged = "\n".join(f"<step_{k}>\n{step.text}\n</step_{k}>" for k, step in enumerate(trace.steps))
        [[reply]] = judge.continue_from([Start(f"[Problem]\n{trace.problem}\n\n{tagged}")], seed=0)
        verdict = json.loads(reply.text)
        assert len(verdict["ratings"]) == len(verdict["steps"]) == len(trace.steps)
        right[trace.first_error == -1].append(verdict["first_error"] == trace.first_error)
    assert 0.7 < sum(right[False]) / len(right[False]) < 0.95
    assert 0.8 < sum(right[True]) / len(right[True]) < 1


def test_the_judge_refuses_what_the_world_does_not_pose(faultless):
    with pytest.raises(UnknownProblem, match="no solution of the sandbox"):
        JudgePolicy(faultless).continue_from([Start("Is 1 a prime?\n<step_0>\nNo.\n</step_0>")], seed=0)


@pytest.mark.slow
def test_weaker_habits_solve_less(traces):
    problems = {trace.problem: trace.reference_answer for trace in traces}
    starts = [Start(problem) for problem in problems] * 4
    shares = {}
    for name in ("sandbox-weak", "sandbox-strong"):
        solved = SolverPolicy(GENERATORS[name]).continue_from(starts, seed=0)
        shares[name] = sum(
            final_answer(steps) == problems[s.problem] for steps, s in zip(solved, starts, strict=True)
        ) / len(starts)
    assert 0.2 < shares["sandbox-weak"] < shares["sandbox-strong"] < 0.95


def test_steps_that_make_no_sense_are_gone_on_from_all_the_same(faultless, traces):
    for trace in traces[:60]:
        nonsense = [Step("Colourless green ideas sleep furiously 0.")]
        [rest] = faultless.continue_from([Start(trace.problem, nonsense)], seed=1)
        assert isinstance(rest, list)


def test_a_problem_that_the_world_does_not_pose_is_refused(faultless):
    with pytest.raises(UnknownProblem):
        faultless.continue_from([Start("Who am I?")], seed=0)


def test_a_problem_is_found_in_the_text_around_it_the_longest_first(faultless, traces):
    problem = traces[0].problem
    assert faultless.known_in(f"Solve this.\n\n{problem}\n\nThink.") == problem
    assert faultless.known_in("Solve this.") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("That is 7 + 5 = 12 euros.", 12),
        ("that is 7 + 5 = 13 euros.", 13),
        ("Mind the trick: that is 7 + 5 = 14 euros.", 14),
        ("Clearly this comes to 15.", 15),
        ("I get sixteen, or 16 if you like", 16),
        ("Nothing of the kind.", 12),
    ],
)
def test_a_step_is_read_for_the_value_it_puts_down(text, value):
    assert value_in(text, [Wrong("", "That is 7 + 5 = # euros.", 12)]) == value
