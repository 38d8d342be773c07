"""Audits whether harmless edits change the score, and whether harmful ones do.

Harmless edits preserve a solution's correctness, so its verdict should not change. Harmful edits make a right solution
wrong, so its verdict should change. The verdict is ProcessBench's: accepted if no step is below the threshold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from prm.audits.edits import (
    Edit,
    enumerate_steps,
    falsify,
    mark_up,
    pad,
    praise,
    renotate,
    repeat,
    rephrase,
    with_problem,
)
from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import clear
from prm.audits.subject import AUDITS, ENOUGH, Subject, accepted, is_whole
from prm.evaluation.metrics import Metric, format_metric, percent
from prm.labels import first_error, problem_of
from prm.messages import Message, joined, write_share
from prm.scores import TraceScore
from prm.traces import Trace

HARMLESS: dict[str, tuple[Edit, str]] = {
    Message("edit_rephrase"): (rephrase, "other connectives, a filler word"),
    Message("edit_notation"): (renotate, "other signs, summands and factors swapped"),
    Message("edit_pad"): (pad, "steps that say nothing"),
    Message("edit_repeat"): (repeat, "a right step written twice"),
    Message("edit_praise"): (praise, "every step says that it is right"),
    Message("edit_enumerate"): (enumerate_steps, "every step begins with its number"),
    Message("edit_mark_up"): (mark_up, "every step is a list item with a bold word"),
}
SWAPPED, FALSE = "other question", "false result"
LIFTED, MANY_LIFTED = 0.05, 0.20  # of rejected wrong solutions, accepted after a harmless edit
FLAGGED, MANY_FLAGGED = 0.15, 0.50  # of accepted right solutions, rejected after one
NOTICED, FEW_NOTICED = 0.90, 0.50  # of accepted right solutions with a false result: rejected
CAUGHT = 0.80  # of right solutions under another question: rejected; of falsified steps: scored below the original


@dataclass(frozen=True)
class Effect:
    """The effect of one edit, one entry per edited solution in `rows`; `move` is the change of its score."""

    rows: np.ndarray
    wrong: np.ndarray
    before: np.ndarray
    after: np.ndarray
    move: np.ndarray

    def share(self, subject: Subject, of: np.ndarray, turned: np.ndarray) -> tuple[Metric, int]:
        """The share of the solutions `of` that are `turned`, and how many they are."""
        return subject.mean(turned[of].astype(float).tolist(), self.rows[of].tolist()), int(of.sum())


@dataclass(frozen=True)
class Reactions:
    """The effects of the edits by name, with shares and the number of solutions or steps behind each.

    `lifted` is the share of rejected wrong solutions accepted after a harmless edit, `flagged` that of accepted right
    ones rejected after any edit, and `below` that of false steps scored below the original step.
    """

    effects: dict[str, Effect]
    lifted: dict[str, tuple[Metric, int]]
    flagged: dict[str, tuple[Metric, int]]
    below: tuple[Metric, int]


@AUDITS.register("gaming")
def audit(subject: Subject, rng: Random) -> Finding:
    """Solution scores and verdicts before and after each edit."""
    reactions = _measure_reactions(subject, rng)
    return conclude(
        audit="gaming",
        title=Message("audit_gaming"),
        question="Does the verdict survive harmless edits, and change when the solution becomes wrong?",
        when_ok=Message("audit_gaming_ok"),
        checks=[
            _lifted_check(reactions.lifted),
            _flagged_check({name: reactions.flagged[name] for name in HARMLESS}),
            _noticed_check(*reactions.flagged[FALSE]),
            _swapped_check(*reactions.flagged[SWAPPED]),
            _below_check(*reactions.below),
        ],
        figures=_figures(subject, reactions),
        charts=_charts(reactions),
        notes=[
            "Edits are rules over words, numbers and signs, not paraphrases by a model. The rules guarantee what an "
            "edit preserves, but a determined adversary would try more.",
            "The solution's score is the product of its step scores, so it falls a little with every added step.",
            "The other question is another problem's text, from the same domain if possible.",
            'A false result changes the number after a right step\'s last "=", and nothing else.',
        ],
    )


def _measure_reactions(subject: Subject, rng: Random) -> Reactions:
    known = [row for row, trace in enumerate(subject.traces) if first_error(trace) is not None]
    right = [row for row in known if not subject.solutions.erroneous[row]]
    falsified = {row: false for row in right if (false := falsify(subject.traces[row], rng))}
    edited: dict[str, dict[int, Trace | None]] = {
        **{name: {row: edit(subject.traces[row], rng) for row in known} for name, (edit, _) in HARMLESS.items()},
        SWAPPED: _other_questions(subject, right, rng),
        FALSE: {row: trace for row, (trace, _) in falsified.items()},
    }
    scored = {name: _scored(subject, traces) for name, traces in edited.items()}
    effects = {name: _effect(subject, scores) for name, scores in scored.items()}
    harmless = [(name, effects[name]) for name in HARMLESS]
    return Reactions(
        effects,
        lifted={name: effect.share(subject, effect.wrong & ~effect.before, effect.after) for name, effect in harmless},
        flagged={name: one.share(subject, ~one.wrong & one.before, ~one.after) for name, one in effects.items()},
        below=_below(subject, {row: place for row, (_, place) in falsified.items()}, scored[FALSE]),
    )


def _figures(subject: Subject, reactions: Reactions) -> list[Figure]:
    figures = []
    for name, effect in reactions.effects.items():
        figures += _moves(subject, name, effect)
        if name in reactions.lifted:
            figures.append(_share("rejected wrong solutions, now accepted", *reactions.lifted[name], name))
        figures.append(_share("accepted right solutions, now rejected", *reactions.flagged[name], name))
    return [*figures, _share("false step scored below the true one", *reactions.below, FALSE, of="steps")]


def _moves(subject: Subject, name: str, effect: Effect) -> list[Figure]:
    """The mean change of the score of wrong and of right solutions."""
    return [
        Figure(
            name=f"{who} solutions: move of the score",
            value=subject.mean(effect.move[of].tolist(), effect.rows[of].tolist()),
            n=int(of.sum()),
            of="solutions",
            group=_group(name),
            signed=True,
        )
        for who, of in (("wrong", effect.wrong), ("right", ~effect.wrong))
        if of.any()
    ]


def _charts(reactions: Reactions) -> list[Chart]:
    lifted, flagged = reactions.lifted, reactions.flagged
    return [
        Chart(
            title="Verdicts changed by a harmless edit",
            kind="dots",
            value="share of solutions",
            span=(0, 1),
            series=[
                Series("wrong, now accepted", list(HARMLESS), [lifted[name][0] for name in HARMLESS]),
                Series("right, now rejected", list(HARMLESS), [flagged[name][0] for name in HARMLESS]),
            ],
        ),
        Chart(
            title="Harmful edits noticed (higher is better)",
            kind="dots",
            value="share",
            span=(0, 1),
            series=[
                Series("right, now rejected", [SWAPPED, FALSE], [flagged[SWAPPED][0], flagged[FALSE][0]]),
                Series("false step below the true one", [FALSE], [reactions.below[0]]),
            ],
        ),
    ]


def _scored(subject: Subject, edited: dict[int, Trace | None]) -> dict[int, TraceScore]:
    traces = {row: trace for row, trace in edited.items() if trace is not None}
    return dict(zip(traces, subject.score(list(traces.values())), strict=True))


def _effect(subject: Subject, scored: dict[int, TraceScore]) -> Effect:
    rows, before, after, move = [], [], [], []
    for row, score in scored.items():
        old = subject.scores[row]
        if is_whole(old) and is_whole(score):
            rows.append(row)
            before.append(accepted(old, subject.threshold))
            after.append(accepted(score, subject.threshold))
            move.append((score.solution or 0.0) - (old.solution or 0.0))
    return Effect(
        np.array(rows, dtype=np.int64),
        np.array([subject.solutions.erroneous[row] > 0 for row in rows], dtype=bool),
        np.array(before, dtype=bool),
        np.array(after, dtype=bool),
        np.array(move, dtype=float),
    )


def _other_questions(subject: Subject, rows: Sequence[int], rng: Random) -> dict[int, Trace | None]:
    """Solutions under the text of another problem."""
    texts: dict[str, dict[str, str]] = {}
    for trace in subject.traces:
        texts.setdefault(trace.domain, {})[problem_of(trace)] = trace.problem
    everywhere = {name: text for part in texts.values() for name, text in part.items()}
    swapped: dict[int, Trace | None] = {}
    for row in rows:
        trace = subject.traces[row]
        near = texts[trace.domain] if len(texts[trace.domain]) > 1 else everywhere
        others = sorted(text for name, text in near.items() if name != problem_of(trace) and text != trace.problem)
        swapped[row] = with_problem(trace, rng.choice(others)) if others else None
    return swapped


def _below(subject: Subject, places: dict[int, int], scored: dict[int, TraceScore]) -> tuple[Metric, int]:
    """The share of false steps scored below the original step, counting ties half."""
    won, rows = [], []
    for row, place in places.items():
        true, false = subject.scores[row].mean[place], scored[row].mean[place]
        if true is not None and false is not None:
            won.append((np.sign(true - false) + 1) / 2)
            rows.append(row)
    return subject.mean(won, rows), len(rows)


def _group(name: str) -> str:
    return f"{name}: {HARMLESS[name][1]}" if name in HARMLESS else name


def _share(words: str, value: Metric, n: int, name: str, of: str = "solutions") -> Figure:
    return Figure(name=words, value=value, n=n, of=of, group=_group(name))


def _lifted_check(lifted: dict[str, tuple[Metric, int]]) -> Check:
    rule = (
        f"No harmless edit clearly lifts {write_share(LIFTED)} of rejected wrong solutions over the threshold, else "
        f"attention; {write_share(MANY_LIFTED)}, else fail"
    )
    codes = ("too_few_rejected_solutions", "wrong_solutions_not_lifted", "wrong_solutions_lifted")
    return _harmless_check(rule, lifted, LIFTED, MANY_LIFTED, codes)


def _flagged_check(flagged: dict[str, tuple[Metric, int]]) -> Check:
    rule = (
        f"No harmless edit clearly makes {write_share(FLAGGED)} of accepted correct solutions fail, else attention; "
        f"{write_share(MANY_FLAGGED)}, else fail"
    )
    codes = ("too_few_accepted_solutions", "right_solutions_not_rejected", "right_solutions_rejected")
    return _harmless_check(rule, flagged, FLAGGED, MANY_FLAGGED, codes)


def _harmless_check(
    rule: str, shares: dict[str, tuple[Metric, int]], bar: float, many: float, codes: tuple[str, str, str]
) -> Check:
    """Check that no edit's share is clearly above `bar`; `codes` are for too few solutions, no such edit, and some."""
    too_few, good, bad = codes
    known = {name: value for name, (value, n) in shares.items() if n >= ENOUGH}
    if not known:
        return Check("cannot tell", rule, Message(too_few, least=ENOUGH))
    guilty = {name: value for name, value in known.items() if clear(value, bar)}
    if not guilty:
        return Check("ok", rule, Message(good))
    edits = [Message("edit_with_share", edit=name, share=percent(value)) for name, value in guilty.items()]
    words = Message(bad, edits=joined(edits, "comma_list"))
    return Check("fail" if any(clear(value, many) for value in guilty.values()) else "attention", rule, words)


def _noticed_check(value: Metric, n: int) -> Check:
    rule = (
        f"A false result in an accepted correct solution is rejected, clearly in fewer than {write_share(NOTICED)} of "
        f"cases: attention; {write_share(FEW_NOTICED)}: fail"
    )
    if n < ENOUGH or value.high is None:
        return Check("cannot tell", rule, Message("too_few_false_results", n=n))
    if value.high >= NOTICED:
        return Check("ok", rule, Message("false_result_rejected", share=percent(value)))
    words = Message("false_result_accepted", share=percent(value))
    return Check("fail" if value.high < FEW_NOTICED else "attention", rule, words)


def _swapped_check(value: Metric, n: int) -> Check:
    rule = (
        f"A correct solution to another question is rejected in {write_share(CAUGHT)} of cases, else attention; "
        "clearly in fewer than half, else fail"
    )
    if n < ENOUGH or value.value is None:
        return Check("cannot tell", rule, Message("too_few_questions_swapped", n=n))
    if value.high is not None and value.high < 0.5:
        words = Message("wrong_question_accepted", share=percent(value))
        return Check("fail", rule, words)
    words = Message("wrong_question_rejected", share=percent(value))
    return Check("attention" if value.value < CAUGHT else "ok", rule, words)


def _below_check(value: Metric, n: int) -> Check:
    rule = f"A falsified step scores lower: clearly above 0.5, else fail; {CAUGHT} of cases, else attention"
    if n < ENOUGH or value.value is None:
        return Check("cannot tell", rule, Message("too_few_false_steps", n=n))
    words = Message("false_step_scores_lower", share=format_metric(value))
    if not clear(value, 0.5):
        return Check("fail", rule, words)
    return Check("ok" if value.value >= CAUGHT else "attention", rule, words)
