"""Faithfulness: known answers for policies whose dependence on their steps is known."""

import re
from collections.abc import Callable, Sequence
from random import Random

import msgspec
import pytest

from prm.probes.faithfulness import falsify, run_trials, summarise
from prm.probes.words import faithfulness_table
from prm.sandbox.solving import Start
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Step, Trace


class Scripted:
    """Writes one answer step, computed from where it goes on."""

    def __init__(self, answer: Callable[[Start], str]) -> None:
        self.answer = answer

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        return [[Step(f"The answer is {self.answer(start)}.")] for start in starts]


class Exact:
    """Passes a step whose sum is right."""

    threshold = Threshold(0.5)

    def score(self, traces):
        for trace in traces:
            mean = [0.9 if eval(step.text.replace("=", "==")) else 0.1 for step in trace.steps if "=" in step.text]
            mean += [0.9] * (len(trace.steps) - len(mean))
            yield TraceScore(trace.id, [[p] for p in mean], mean, [None] * len(mean), None)


COPIES = Scripted(lambda start: re.findall(r"\d+", start.steps[-1].text)[-1])
IGNORES = Scripted(lambda start: re.findall(r"\d+", start.problem)[-1])


def solution(number: int) -> Trace:
    total = number + 10
    steps = [Step(f"{number} + 4 = {number + 4}"), Step(f"{number + 4} + 6 = {total}"), Step(f"The answer is {total}.")]
    return Trace(id=f"s{number}", problem=f"Reach {total}", problem_id=f"p{number}", steps=steps, domain="sums")


SOLUTIONS = [solution(number) for number in range(20, 30)]


def trials(policy, solutions=SOLUTIONS, **options):
    return run_trials(policy, solutions, continuations=2, seed=1, **options)


def test_a_policy_that_ignores_its_steps_is_not_moved():
    part = summarise(trials(IGNORES), SOLUTIONS, continuations=2, bootstrap=50).overall
    assert (part.moved.value, part.effect.value, part.effect.high) == (0, 0, 0)
    assert part.n_trials == 20
    assert part.n_problems == 10


def test_a_policy_that_copies_the_last_value_is_always_moved_by_a_falsified_one():
    report = summarise([t for t in trials(COPIES) if t.remaining == 1], SOLUTIONS, continuations=2, bootstrap=50)
    part = report.by_remaining["1"]
    assert (part.moved.value, part.moved_control.value, part.effect.value) == (1, 0, 1)
    assert (part.carried.value, part.carried_control.value) == (1, 0)


def test_solutions_without_a_domain_have_a_named_row():
    bare = [msgspec.structs.replace(one, domain="") for one in SOLUTIONS]
    table = faithfulness_table(summarise(trials(IGNORES, bare), bare, continuations=2, bootstrap=5))
    assert table.splitlines()[-1].startswith("| (no domain) | 20 |")


def test_the_control_takes_away_what_a_policy_changes_by_itself():
    fickle = Scripted(lambda start: "something else")
    part = summarise(trials(fickle), SOLUTIONS, continuations=2, bootstrap=50).overall
    assert (part.moved.value, part.moved_control.value, part.effect.value) == (1, 1, 0)


def test_a_verifier_that_checks_sums_sees_every_false_step():
    part = summarise(trials(COPIES, judge=Exact()), SOLUTIONS, continuations=2, bootstrap=50).overall
    assert part.score_drop.value == pytest.approx(0.8)
    assert (part.noticed.value, part.moved_unseen.value) == (1, 0)


def test_without_a_verifier_what_it_would_see_is_unknown():
    part = summarise(trials(COPIES), SOLUTIONS, continuations=2, bootstrap=50).overall
    assert part.noticed.value is None


def test_a_solution_without_an_answer_and_a_step_without_a_number_give_no_trial():
    silent = Trace(id="x", problem="?", problem_id="x", steps=[Step("1 + 1 = 2"), Step("Well.")])
    wordy = Trace(id="y", problem="?", problem_id="y", steps=[Step("Let us see."), Step("The answer is 2.")])
    assert trials(COPIES, [silent, wordy]) == []
    report = summarise([], [silent, wordy], continuations=2, bootstrap=50)
    assert (report.n_solutions, report.n_plain, report.overall.moved.value) == (1, 1, None)
    msgspec.json.encode(report)


def test_problems_without_an_id_are_told_apart_by_their_text():
    nameless = [msgspec.structs.replace(one, problem_id="") for one in SOLUTIONS]
    assert summarise(trials(IGNORES, nameless), nameless, continuations=2, bootstrap=5).overall.n_problems == 10


def test_only_the_last_number_of_a_step_is_falsified():
    step, number = falsify(Step("So 3 * 4 = 12 euros.", "answer"), Random(0))
    assert step.text == f"So 3 * 4 = {number} euros."
    assert number != "12"
    assert step.kind == "answer"
