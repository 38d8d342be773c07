"""Audits the score a hundred steps deep, on chains of solved problems with one wrong part at a random place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import Chosen, Ranking, auroc_chart, clear, rank
from prm.audits.subject import AUDITS, ENOUGH, Subject
from prm.evaluation.metrics import (
    Array,
    Metric,
    as_metric,
    divide,
    draws_of,
    format_metric,
    harmonic_mean,
    ranking,
    resample,
    resampled_ece,
    short,
)
from prm.labels import first_error, problem_of, step_labels
from prm.messages import Message, joined
from prm.scores import TraceScore
from prm.traces import Step, StepLabel, Trace

HEADING = "Solve these problems one after another."


@dataclass(frozen=True)
class Chain:
    """A long trace, with the row of the original trace for each of its steps.

    It joins right solutions to several problems, and at most one wrong one. Its problem asks for all of them in order,
    and each part's first step names its problem, so a step is right in the chain if it was right alone. A chain ends
    with its wrong part, since nothing after the first error counts or can change an earlier score.
    """

    trace: Trace
    rows: list[int]


def make_chains(traces: Sequence[Trace], n_steps: int, count: int, rng: Random) -> Iterator[Chain]:
    """Chains of at least `n_steps` steps; in every other one a wrong part at a random place ends the chain.

    The right parts of a chain have different problems. There are no chains if the right solutions do not suffice.
    """
    errors = [first_error(trace) for trace in traces]
    right = [row for row, error in enumerate(errors) if error == -1 and traces[row].steps]
    wrong = [row for row, error in enumerate(errors) if error is not None and error >= 0]
    for number in range(count):
        rows = _draw(traces, right, n_steps, rng)
        if sum(len(traces[row].steps) for row in rows) < n_steps:
            return
        if wrong and number % 2:
            rows[rng.randrange(len(rows)) :] = [rng.choice(wrong)]
        yield _chain(f"chain-{n_steps}-{number}", traces, rows)


def _draw(traces: Sequence[Trace], right: Sequence[int], n_steps: int, rng: Random) -> list[int]:
    chosen: list[int] = []
    seen: set[str] = set()
    length = 0
    for row in rng.sample(list(right), len(right)):
        if length >= n_steps:
            break
        if problem_of(traces[row]) not in seen:
            seen.add(problem_of(traces[row]))
            chosen.append(row)
            length += len(traces[row].steps)
    return chosen


def _chain(name: str, traces: Sequence[Trace], rows: Sequence[int]) -> Chain:
    problems = [HEADING]
    steps: list[Step] = []
    labels: list[StepLabel | None] = []
    owners: list[int] = []
    error = -1
    for part, row in enumerate(rows, start=1):
        trace = traces[row]
        problems.append(f"Problem {part}: {trace.problem}")
        first = msgspec.structs.replace(trace.steps[0], text=f"Problem {part}. {trace.steps[0].text}")
        here = first_error(trace)
        error = len(steps) + here if here is not None and here >= 0 else -1
        steps += [first, *trace.steps[1:]]
        labels += step_labels(trace)
        owners += [row] * len(trace.steps)
    return Chain(Trace(name, "\n\n".join(problems), steps, labels=labels, first_error=error), owners)


STEPS = (16, 32, 64, 128)  # of chains
CHAINS = 48  # of each length
DEPTHS = ((0, 16), (16, 32), (32, 64), (64, 100), (100, None))
SHALLOW, DEEP = 16, 64  # the first SHALLOW steps are compared with those beyond DEEP
FALL = 0.10  # of AUROC
HALF = 0.5  # of F1, longest chains over shortest


@dataclass(frozen=True)
class Steps:
    """The scored steps of all chains as columns, up to the first errors; `owner` is a step's original problem."""

    depth: Array
    p: Array
    error: Array
    chars: Array
    owner: NDArray[np.int64]


@AUDITS.register("long")
def audit(subject: Subject, rng: Random) -> Finding:
    """AUROC and calibration by depth, F1 by length of the chain, and steps beyond the context."""
    chains = {n: list(make_chains(subject.traces, n, CHAINS, rng)) for n in STEPS}
    chains = {n: made for n, made in chains.items() if made}
    read_once = {n: subject.score([chain.trace for chain in made]) for n, made in chains.items()}
    scores = {n: _completed(subject, made, read_once[n]) for n, made in chains.items()}
    steps = _columns(
        subject, [c for made in chains.values() for c in made], [s for one in scores.values() for s in one]
    )
    depths = {name: _rank(subject, steps, inside) for name, inside in _depths(steps)}
    f1 = {n: _f1(subject, made, scores[n]) for n, made in chains.items()}
    beyond, missing = (
        {n: sum(one.unscored for one in some) / sum(len(one.mean) for one in some) for n, some in by_length.items()}
        for by_length in (read_once, scores)
    )
    return conclude(
        audit="long",
        title=Message("audit_long"),
        question="Does the score hold a hundred steps deep?",
        when_ok=Message("audit_long_ok"),
        checks=[_depth_check(subject, steps), _f1_check(f1), _missing_check(missing)],
        figures=[
            *(ranking.figure(name, "AUROC by depth in a chain") for name, ranking in depths.items()),
            *(
                Figure(
                    name=name,
                    value=resampled_ece(steps.p[inside], 1 - steps.error[inside], subject.draws, steps.owner[inside]),
                    n=int(inside.sum()),
                    of="steps",
                    group="ECE by depth in a chain",
                )
                for name, inside in _depths(steps)
            ),
            *(
                Figure(name=f"{n} steps", value=one, n=len(chains[n]), of="chains", group="ProcessBench F1 of chains")
                for n, one in f1.items()
            ),
            *(
                Figure(
                    name=f"{n} steps",
                    value=Metric(share, None, None),
                    n=sum(len(score.mean) for score in scores[n]),
                    of="steps",
                    group="Share of steps beyond the context",
                )
                for n, share in beyond.items()
            ),
        ],
        charts=[
            auroc_chart("AUROC by depth in a chain", depths),
            Chart(
                title="ProcessBench F1 by length of the chain",
                kind="dots",
                value="F1",
                span=(0, 1),
                series=[Series("scores", [f"{n} steps" for n in f1], list(f1.values()))],
            ),
        ],
        notes=[
            "Chains join solutions of different problems under one statement that asks for all of them; every other "
            "one has a wrong part at a random place and ends there. When problems are resampled a step goes with the "
            "problem it came from; for F1 whole chains are resampled.",
            "In a chain of L steps, one false alarm spoils the verdict. The threshold falls with L for this reason, "
            "but F1 may still fall although AUROC holds.",
            "Steps beyond the context are read in windows where the scorer can; else they are not scored, never "
            "guessed, and their chain counts as a miss in F1.",
        ],
    )


def _completed(subject: Subject, chains: Sequence[Chain], scores: Sequence[TraceScore]) -> list[TraceScore]:
    """The scores; chains beyond the context are scored in windows if the scorer supports them."""
    outgrown = [k for k, score in enumerate(scores) if score.unscored]
    if subject.score_long is None or not outgrown:
        return list(scores)
    windowed = dict(zip(outgrown, subject.score_long([chains[k].trace for k in outgrown]), strict=True))
    return [windowed.get(k, score) for k, score in enumerate(scores)]


def _columns(subject: Subject, chains: Sequence[Chain], scores: Sequence[TraceScore]) -> Steps:
    rows: list[tuple[float, ...]] = []
    for chain, score in zip(chains, scores, strict=True):
        error = first_error(chain.trace)
        for depth, (p, row, step) in enumerate(zip(score.mean, chain.rows, chain.trace.steps, strict=True)):
            if p is not None:
                rows.append((depth, p, depth == error, len(step.text), subject.solutions.problem[row]))
            if depth == error:
                break
    table = np.array(rows, dtype=float).reshape(-1, 5)
    return Steps(table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4].astype(np.int64))


def _depths(steps: Steps) -> list[tuple[str, Chosen]]:
    """Steps by depth, counted from 1."""
    depths = [
        (
            f"step {low + 1} to {high}" if high else f"step {low + 1} on",
            (steps.depth >= low) & (steps.depth < (high or np.inf)),
        )
        for low, high in DEPTHS
    ]
    return [(name, inside) for name, inside in depths if inside.any()]


def _rank(subject: Subject, steps: Steps, inside: Chosen) -> Ranking:
    return rank(
        steps.p[inside],
        steps.error[inside],
        steps.depth[inside],
        steps.chars[inside],
        steps.owner[inside],
        subject.draws,
    )


def _f1(subject: Subject, chains: Sequence[Chain], scores: Sequence[TraceScore]) -> Metric:
    """ProcessBench F1 over chains."""
    truth = np.array([first_error(chain.trace) for chain in chains])
    predicted = [subject.threshold.first_error(score.mean) for score in scores]
    hit = np.array([one == error for one, error in zip(predicted, truth, strict=True)], dtype=float)
    weights = draws_of(len(chains), subject.bootstrap, subject.seed)
    wrong, right = (divide(weights[:, of] @ hit[of], weights[:, of].sum(axis=1)) for of in (truth >= 0, truth < 0))
    return as_metric(harmonic_mean(wrong, right))


def _depth_check(subject: Subject, steps: Steps) -> Check:
    rule = (
        f"From step {DEEP + 1} on AUROC is clear of 0.5, else fail; and not clearly {FALL} below that of the first "
        f"{SHALLOW} steps, else attention"
    )
    shallow, deep = steps.depth < SHALLOW, steps.depth >= DEEP
    n_errors = int(steps.error[deep].sum())
    if n_errors < ENOUGH:
        return Check("cannot tell", rule, Message("too_few_deep_errors", n=n_errors, deep=DEEP))

    def measure(weights: Array) -> dict[str, Array]:
        near, far = (ranking(1 - steps.p[at], steps.error[at], weights[:, at])[0] for at in (shallow, deep))
        return {"far": far, "fall": near - far}

    figures = resample(measure, subject.draws, steps.owner)
    values = {"deep": DEEP, "shallow": SHALLOW, "auroc": format_metric(figures["far"])}
    if not clear(figures["far"], 0.5):
        return Check("fail", rule, Message("deep_errors_not_separated", **values))
    if clear(figures["fall"], FALL):
        words = Message("deep_auroc_lower", fall=format_metric(figures["fall"]), **values)
        return Check("attention", rule, words)
    return Check("ok", rule, Message("deep_auroc_alike", **values))


def _f1_check(f1: dict[int, Metric]) -> Check:
    rule = f"F1 of the longest chains is at least {HALF} of the shortest chains', and not 0, else attention"
    known = {n: one.value for n, one in f1.items() if one.value is not None}
    if len(known) < 2:
        return Check("cannot tell", rule, Message("too_few_solutions_for_chains"))
    (first, near), *_, (last, far) = known.items()
    words = Message("f1_in_chains", near=short(near), first=first, far=short(far), last=last)
    return Check("ok" if far > 0 and far >= HALF * near else "attention", rule, words)


def _missing_check(missing: dict[int, float]) -> Check:
    rule = "Every step of every chain is scored, possibly in a window, else attention"
    if not missing:
        return Check("cannot tell", rule, Message("no_chain_made"))
    lost = [Message("share_beyond_context_at_length", share=share, n=n) for n, share in missing.items() if share]
    if lost:
        return Check("attention", rule, Message("chains_beyond_context", shares=joined(lost, "comma_list")))
    return Check("ok", rule, Message("chains_scored_whole"))
