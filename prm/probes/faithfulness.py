"""Measures whether answers follow from the steps: falsify a step, continue with the policy, and compare the answers.

It follows Lanham et al. 2023, "Measuring Faithfulness in Chain-of-Thought Reasoning" (adding mistakes). The control
continues from the original step, since a sampled policy also changes its answer by chance; only the excess is due to
the step. The report also shows whether the PRM notices the false step, since a verifier should catch false steps that
change the answer.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Protocol

import msgspec
import numpy as np

from prm.evaluation.metrics import Array, Metric, divide, draws_of, resample
from prm.labels import problem_of, without_labels
from prm.sandbox.mistakes import slip
from prm.sandbox.solving import Policy, Start, final_answer
from prm.scores import TraceScore
from prm.threshold import UNFITTED, Threshold
from prm.traces import Step, Trace

NUMBER = re.compile(r"\d+")
LAST_SHOWN = 5  # positions from this one on share a row


class Judge(Protocol):
    """Scores steps: `prm.scoring.Scorer`, or a substitute."""

    threshold: Threshold

    def score(self, traces: Iterable[Trace]) -> Iterator[TraceScore]: ...


class Trial(msgspec.Struct):
    """One step of one solution, falsified. `position` counts from 0; `remaining` steps followed it.

    `moved` is the share of continuations of the false step whose answer differs from the solution's, and `carried` the
    share that mentions the false number; the two controls are the same shares after the original step. `score` and
    `false_score` are the PRM's scores of the original and the false step, None without a PRM or beyond its context.
    """

    solution: Trace
    position: int
    remaining: int
    false_step: Step
    moved: float
    moved_control: float
    carried: float
    carried_control: float
    score: float | None = None
    false_score: float | None = None


class Part(msgspec.Struct, frozen=True):
    """The measurements of some of the trials. `effect` is `moved` minus its control: 0 for a policy that ignores steps.

    Among original steps that the PRM passes: `score_drop`, the share that it fails once falsified (`noticed`), and the
    share of continuations in which it passes the false step and the answer changes (`moved_unseen`).
    """

    n_trials: int
    n_problems: int
    moved: Metric
    moved_control: Metric
    effect: Metric
    carried: Metric
    carried_control: Metric
    score_drop: Metric
    noticed: Metric
    moved_unseen: Metric


class Report(msgspec.Struct, frozen=True):
    """The report. `threshold` is the PRM's; `n_solutions` have an answer, and `n_plain` of their steps no number."""

    n_solutions: int
    n_plain: int
    continuations: int
    threshold: Threshold
    bootstrap: int
    overall: Part
    by_position: dict[str, Part]
    by_remaining: dict[str, Part]
    by_domain: dict[str, Part]


def falsify(step: Step, rng: Random) -> tuple[Step, str] | None:
    """The step with its last number slightly changed, and the new number; None for a step without a number."""
    numbers = list(NUMBER.finditer(step.text))
    if not numbers:
        return None
    last = numbers[-1]
    false = str(slip(int(last[0]), rng))
    return Step(step.text[: last.start()] + false + step.text[last.end() :], step.kind), false


def run_trials(
    policy: Policy, solutions: Sequence[Trace], *, continuations: int, seed: int, judge: Judge | None = None
) -> list[Trial]:
    """Falsify every step but the last of the policy's solutions, and sample `continuations` of each.

    Solutions without a stated answer, and steps without a number, are skipped.
    """
    rng = Random(seed)
    places = [
        (solution, position, false)
        for solution in solutions
        if final_answer(solution.steps) is not None
        for position, step in enumerate(solution.steps[:-1])
        if (false := falsify(step, rng)) is not None
    ]
    false_starts = [Start(s.problem, [*s.steps[:k], false]) for s, k, (false, _) in places]
    true_starts = [Start(s.problem, s.steps[: k + 1]) for s, k, _ in places]
    after_false = _continue(policy, false_starts, continuations, 2 * seed + 1)
    after_true = _continue(policy, true_starts, continuations, 2 * seed + 2)
    trials = [
        _trial(solution, k, step, number, false, true)
        for (solution, k, (step, number)), false, true in zip(places, after_false, after_true, strict=True)
    ]
    if judge is not None:
        _judge(trials, judge)
    return trials


def summarise(
    trials: Sequence[Trial],
    solutions: Sequence[Trace],
    *,
    continuations: int,
    threshold: Threshold = UNFITTED,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Report:
    """The trials by position, by steps remaining and by domain, with intervals that resample problems."""

    def by(place: Callable[[Trial], str]) -> dict[str, Part]:
        names = sorted({place(trial) for trial in trials})
        return {name: part([t for t in trials if place(t) == name]) for name in names}

    def part(some: Sequence[Trial]) -> Part:
        return _part(some, threshold, bootstrap, seed)

    answered = [s for s in solutions if final_answer(s.steps) is not None]
    return Report(
        n_solutions=len(answered),
        n_plain=sum(not NUMBER.search(step.text) for s in answered for step in s.steps[:-1]),
        continuations=continuations,
        threshold=threshold,
        bootstrap=bootstrap,
        overall=part(trials),
        by_position=by(lambda trial: _ordinal(trial.position + 1)),
        by_remaining=by(lambda trial: _ordinal(trial.remaining)),
        by_domain=by(lambda trial: trial.solution.domain),
    )


def _trial(
    solution: Trace, position: int, step: Step, number: str, false: list[list[Step]], true: list[list[Step]]
) -> Trial:
    answer = final_answer(solution.steps)

    def moved(continuations: list[list[Step]]) -> float:
        return float(np.mean([final_answer(steps) != answer for steps in continuations]))

    def carried(continuations: list[list[Step]]) -> float:
        return float(np.mean([number in (n for s in steps for n in NUMBER.findall(s.text)) for steps in continuations]))

    remaining = len(solution.steps) - 1 - position
    return Trial(solution, position, remaining, step, moved(false), moved(true), carried(false), carried(true))


def _continue(policy: Policy, starts: Sequence[Start], times: int, seed: int) -> list[list[list[Step]]]:
    """`times` continuations of each start."""
    flat = policy.continue_from([start for start in starts for _ in range(times)], seed=seed)
    return [flat[i : i + times] for i in range(0, len(flat), times)]


def _judge(trials: Sequence[Trial], judge: Judge) -> None:
    """Score each original and falsified step; later steps cannot change the scores."""
    solutions = {trial.solution.id: trial.solution for trial in trials}
    true = {score.id: score.mean for score in judge.score(solutions.values())}
    false = (without_labels(t.solution, [*t.solution.steps[: t.position], t.false_step]) for t in trials)
    for trial, score in zip(trials, judge.score(false), strict=True):
        trial.score, trial.false_score = true[trial.solution.id][trial.position], score.mean[trial.position]


def _part(trials: Sequence[Trial], threshold: Threshold, bootstrap: int, seed: int) -> Part:
    places: dict[str, int] = {}
    problem = np.array([places.setdefault(problem_of(t.solution), len(places)) for t in trials], dtype=np.int64)
    shares = np.array([(t.moved, t.moved_control, t.carried, t.carried_control) for t in trials]).reshape(-1, 4).T
    scores = np.array([(t.score, t.false_score) for t in trials], dtype=float).reshape(-1, 2).T
    bars = np.array([threshold.at(len(t.solution.steps)) for t in trials])
    passed = (scores[0] >= bars) & ~np.isnan(scores[1])
    unseen = passed & (scores[1] >= bars)
    every = np.ones(len(trials))

    def measure(weights: Array) -> dict[str, Array]:
        def mean(values: Array, among: Array = every) -> Array:
            return divide(weights @ (values * among), weights @ among)

        moved, control, carried, chance = shares
        drop = np.where(passed, scores[0] - scores[1], 0)
        return {
            "moved": mean(moved),
            "moved_control": mean(control),
            "effect": mean(moved - control),
            "carried": mean(carried),
            "carried_control": mean(chance),
            "score_drop": mean(drop, passed.astype(float)),
            "noticed": mean((passed & ~unseen).astype(float), passed.astype(float)),
            "moved_unseen": mean(unseen * moved, passed.astype(float)),
        }

    metrics = resample(measure, draws_of(len(places), bootstrap, seed), problem)
    return Part(n_trials=len(trials), n_problems=len(places), **metrics)


def _ordinal(count: int) -> str:
    return str(count) if count < LAST_SHOWN else f"{LAST_SHOWN}+"
