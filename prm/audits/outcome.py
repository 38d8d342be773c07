"""Audits whether the score has collapsed to the outcome, which would make a PRM a costly outcome model.

The share of minima on the last step follows Zhang et al. 2025 ("The Lessons of Developing Process Reward Models in
Mathematical Reasoning").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from prm.audits.edits import right_answers, with_right_answer, with_wrong_answer
from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import above_chance, auroc_chart, clear, rank_steps
from prm.audits.subject import AUDITS, ENOUGH, Subject, is_whole
from prm.evaluation.metrics import Metric, format_metric, percent
from prm.labels import first_error, problem_of
from prm.messages import Message
from prm.scores import TraceScore
from prm.traces import Trace

MORE_MINIMA = 0.10  # excess of minima over first errors on the last step, as a share of wrong solutions
LIFT = 0.05  # of the score of a wrong solution's last step with the right answer
STILL = 0.02  # change of an earlier step's score by rounding in half precision; in float32 it is 1e-6


@dataclass(frozen=True)
class Minima:
    """Shares of `n` wrong solutions: with the unique lowest score on the last step (`lowest`), with the first error
    there (`errors`), and their difference (`excess`)."""

    lowest: Metric
    errors: Metric
    excess: Metric
    n: int


@dataclass(frozen=True)
class Swap:
    """The effect of swapping final answers, one entry per solution in `rows`. `earlier` is the largest change of any
    earlier step's score."""

    rows: list[int]
    last_step: list[float]
    solution: list[float]
    earlier: float


@AUDITS.register("outcome")
def audit(subject: Subject, rng: Random) -> Finding:
    """Step AUROC among right answers and among wrong ones, positions of minima, and effects of answer swaps."""
    outcome = np.array([np.nan if t.final_answer_correct is None else t.final_answer_correct for t in subject.traces])
    of_step = outcome[subject.steps.solution]
    strata = {
        "all solutions": rank_steps(subject),
        "right final answer": rank_steps(subject, of_step == 1),
        "wrong final answer": rank_steps(subject, of_step == 0),
    }
    minima = _minima(subject)
    made_wrong, made_right = _answers_made_wrong(subject, rng), _answers_made_right(subject)
    figures = [ranking.figure(name, "Step AUROC") for name, ranking in strata.items()]
    figures += [
        Figure(name="lowest score", value=minima.lowest, n=minima.n, of="wrong solutions", group="On the last step"),
        Figure(name="first error", value=minima.errors, n=minima.n, of="wrong solutions", group="On the last step"),
        *_swap_figures(subject, made_wrong, "right answer made wrong"),
        *_swap_figures(subject, made_right, "wrong answer made right"),
    ]
    return conclude(
        audit="outcome",
        title=Message("audit_outcome"),
        question="Does the score judge steps, or only whether the final answer will be right?",
        when_ok=Message("audit_outcome_ok"),
        checks=[
            above_chance(strata["wrong final answer"], Message("among_wrong_answers")),
            above_chance(strata["right final answer"], Message("among_right_answers")),
            _minima_check(minima),
            _causal_check([*made_wrong.rows, *made_right.rows], max(made_wrong.earlier, made_right.earlier)),
            _wrong_answer_check(subject.mean(made_wrong.last_step, made_wrong.rows), len(made_wrong.rows)),
            _right_answer_check(subject.mean(made_right.last_step, made_right.rows), len(made_right.rows)),
        ],
        figures=figures,
        charts=[
            auroc_chart("Step AUROC by outcome", strata),
            Chart(
                title="Swapping the final answer",
                kind="dots",
                value="change of score",
                reference=0.0,
                series=[
                    Series(name, ["right made wrong", "wrong made right"], [_moved(subject, s, of) for s in swaps])
                    for name, of, swaps in (
                        ("last step", "last_step", (made_wrong, made_right)),
                        ("solution", "solution", (made_wrong, made_right)),
                    )
                ],
            ),
        ],
        notes=[
            "Solutions with an unknown outcome are in no stratum.",
            "Answers are swapped by rule: the reference, the last box, or the last number of the last step. A wrong "
            "answer is made right only if the first error is before the last step, so that the last step still "
            "does not follow.",
        ],
    )


def _minima(subject: Subject) -> Minima:
    lowest, last, rows = [], [], []
    for row, (trace, score) in enumerate(zip(subject.traces, subject.scores, strict=True)):
        error = first_error(trace)
        if error is not None and error >= 0 and len(score.mean) > 1 and is_whole(score):
            *before, end = _p(score)
            lowest.append(float(end < min(before)))
            last.append(float(error == len(before)))
            rows.append(row)
    excess = subject.mean(np.subtract(lowest, last).tolist(), rows)
    return Minima(subject.mean(lowest, rows), subject.mean(last, rows), excess, len(rows))


def _answers_made_wrong(subject: Subject, rng: Random) -> Swap:
    """The effect of making the answer of right solutions wrong in the last step."""
    chosen = {
        row: with_wrong_answer(trace, rng)
        for row, trace in enumerate(subject.traces)
        if first_error(trace) == -1 and trace.final_answer_correct is not False
    }
    return _swap(subject, chosen)


def _answers_made_right(subject: Subject) -> Swap:
    """The effect of making the answer right in the last step of solutions with an earlier error."""
    answers = right_answers(subject.traces)
    chosen = {}
    for row, trace in enumerate(subject.traces):
        error, answer = first_error(trace), answers.get(problem_of(trace))
        if answer and trace.final_answer_correct is False and error is not None and 0 <= error < len(trace.steps) - 1:
            chosen[row] = with_right_answer(trace, answer)
    return _swap(subject, chosen)


def _swap(subject: Subject, chosen: dict[int, Trace | None]) -> Swap:
    edited = {row: trace for row, trace in chosen.items() if trace is not None}
    rows, last_step, solution, earlier = [], [], [], 0.0
    for row, after in zip(edited, subject.score(list(edited.values())), strict=True):
        before = subject.scores[row]
        if is_whole(before) and is_whole(after):
            moves = np.subtract(_p(after), _p(before))
            earlier = max(earlier, float(np.abs(moves[:-1]).max(initial=0.0)))
            rows.append(row)
            last_step.append(float(moves[-1]))
            solution.append((after.solution or 0.0) - (before.solution or 0.0))
    return Swap(rows, last_step, solution, earlier)


def _p(score: TraceScore) -> list[float]:
    return [p for p in score.mean if p is not None]


def _moved(subject: Subject, swap: Swap, of: str) -> Metric:
    return subject.mean(getattr(swap, of), swap.rows)


def _swap_figures(subject: Subject, swap: Swap, name: str) -> list[Figure]:
    figures = [
        Figure(
            name=f"{name}: {words}",
            value=_moved(subject, swap, of),
            n=len(swap.rows),
            of="solutions",
            group="Answer swap",
            signed=True,
        )
        for words, of in (("last step", "last_step"), ("solution", "solution"))
    ]
    largest = Metric(swap.earlier, None, None) if swap.rows else Metric(None, None, None)
    return [
        *figures,
        Figure(
            name=f"{name}: largest move of an earlier step",
            value=largest,
            n=len(swap.rows),
            of="solutions",
            group="Answer swap",
        ),
    ]


def _minima_check(minima: Minima) -> Check:
    rule = f"The last step is lowest at most {MORE_MINIMA} more often than it is the first error, else attention"
    if minima.n < ENOUGH:
        return Check("cannot tell", rule, Message("too_few_wrong_solutions", n=minima.n))
    shares = {"lowest": percent(minima.lowest), "errors": percent(minima.errors)}
    if clear(minima.excess, MORE_MINIMA):
        return Check("attention", rule, Message("lowest_score_last_too_often", **shares))
    return Check("ok", rule, Message("lowest_score_placed_well", **shares))


def _causal_check(rows: Sequence[int], earlier: float) -> Check:
    rule = f"No earlier step's score moves by more than {STILL} when the last step changes, else fail"
    if not rows:
        return Check("cannot tell", rule, Message("no_answer_swapped"))
    if earlier > STILL:
        return Check("fail", rule, Message("earlier_scores_affected", move=earlier))
    return Check("ok", rule, Message("earlier_scores_unaffected"))


def _wrong_answer_check(move: Metric, n: int) -> Check:
    rule = "The last step's score falls when a right answer is made wrong, else attention"
    if n < ENOUGH or move.high is None:
        return Check("cannot tell", rule, Message("too_few_answers_made_wrong", n=n))
    if move.high >= 0:
        return Check("attention", rule, Message("wrong_answer_unseen"))
    fall = format_metric(move, signed=True)
    return Check("ok", rule, Message("wrong_answer_lowers_score", fall=fall))


def _right_answer_check(move: Metric, n: int) -> Check:
    rule = f"The last step's score does not clearly rise by {LIFT} when a wrong answer is made right, else attention"
    if n < ENOUGH:
        return Check("cannot tell", rule, Message("too_few_answers_made_right", n=n))
    rise = format_metric(move, signed=True)
    if clear(move, LIFT):
        return Check("attention", rule, Message("unearned_answer_rewarded", rise=rise))
    return Check("ok", rule, Message("unearned_answer_not_rewarded", rise=rise))
