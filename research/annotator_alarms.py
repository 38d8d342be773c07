"""Measures the alarms about annotators: how many labels until a careless one is named, and how often a careful one is.

    python -m research.annotator_alarms --replicates 40 --json var/annotator-alarms.json

Six people of the sandbox's average crowd and one more person label sandbox solutions, in memory; no server is needed.
The checks look after every ten labels of that person, as the platform does every minute. An alarm is cleared at once,
as a manager would, and the labels before it count as reviewed.
"""

import argparse
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import sqrt
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from prm.files import write_json
from prm.sandbox.annotators import PROFILES, AnnotatorProfile, simulate_labels
from prm.sandbox.world import WorldConfig, generate
from prm.traces import Trace

CROWD = {"ana": "careful", "ben": "careful", "cem": "average", "dee": "average", "eva": "average", "fin": "average"}
WATCHED = "x"
OVERLAP, GOLD = 0.3, 0.05  # shares of a person's labels on solutions that somebody labelled, and on gold
LABELS = 200  # of the watched person
LOOK_EVERY = 10
SOLUTIONS = 1600
FIRST_SEED = 7000  # seeds below were used to develop the checks, or for earlier tables
START = datetime(2026, 1, 1, tzinfo=UTC)

Answer = tuple[int, float, str]  # first error, seconds, comment
Answering = Callable[[Trace, "Past", np.random.Generator], Answer]


class Row(msgspec.Struct):
    """The alarms about one kind of person: `named` is the share of replicates with an alarm, `after` the median of the
    labels before the first one. `alarms` counts all alarms about this person in `labels`, by check in `checks`."""

    kind: str
    careless: bool
    named: float
    after: float | None
    alarms: int
    labels: int
    checks: dict[str, int]


@dataclass
class Bench:
    """One project: `labels` and `timed` as the checks read them."""

    rng: np.random.Generator
    labels: list[Any] = field(default_factory=list)
    timed: list[Any] = field(default_factory=list)
    comments: dict[int, frozenset[str]] = field(default_factory=dict)
    answered: dict[int, dict[str, Answer]] = field(default_factory=dict)  # of each solution, by person
    fresh: list[int] = field(default_factory=list)
    gold: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A kind of person: what they answer to a trace, given their own answers so far and the others' on it."""

    name: str
    careless: bool
    answer: Answering


@dataclass(frozen=True)
class Past:
    """The watched person's number of labels, and the answers of others to the same solution."""

    labels: int
    others: list[Answer]


def by_profile(profile: AnnotatorProfile, *, times: float = 1.0) -> Answering:
    """Reads like this profile, `times` as long."""

    def answer(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
        reading = simulate_labels(trace, profile, rng)
        comment = f"Wrong: the reason is number {rng.integers(10**9)}." if rng.random() < 0.2 else ""
        return reading.first_error, times * sum(step.dwell_ms for step in reading.steps) / 1000, comment

    return answer


careful, average, lenient = (PROFILES[name] for name in ("careful", "average", "lenient"))
read = by_profile(average)


def at_random(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return int(rng.integers(-1, len(trace.steps))), 2.0, ""


def at_random_slowly(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return at_random(trace, past, rng)[0], read(trace, past, rng)[1], ""


def always_good(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return -1, read(trace, past, rng)[1], ""


def always_good_fast(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return -1, 2.0, ""


def same_step(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return min(1, len(trace.steps) - 1), read(trace, past, rng)[1], ""


def taking_turns(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    return (-1, 0)[past.labels % 2], read(trace, past, rng)[1], ""


def copying(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    """Copies the answer and the comment, where there is one to copy, and reads otherwise."""
    own = read(trace, past, rng)
    return (past.others[0][0], own[1], past.others[0][2]) if past.others else own


def copying_answers(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    """Copies the answer, where there is one to copy, and reads otherwise."""
    own = read(trace, past, rng)
    return (past.others[0][0], own[1], own[2]) if past.others else own


def drifting(trace: Trace, past: Past, rng: np.random.Generator) -> Answer:
    """Careful at first; the share of guesses grows to one over 150 labels."""
    guesses = rng.random() < past.labels / 150
    return at_random_slowly(trace, past, rng) if guesses else read(trace, past, rng)


KINDS = [
    Kind("random, 2 s a label", True, at_random),
    Kind("random, usual pace", True, at_random_slowly),
    Kind("always good, 2 s a label", True, always_good_fast),
    Kind("always good, usual pace", True, always_good),
    Kind("always the second step", True, same_step),
    Kind("none and first step by turns", True, taking_turns),
    Kind("copies answers and comments", True, copying),
    Kind("copies answers", True, copying_answers),
    Kind("drifts to guessing", True, drifting),
    Kind("hasty profile", True, by_profile(PROFILES["hasty"])),
    Kind("careful", False, by_profile(careful)),
    Kind("average", False, by_profile(average)),
    Kind("slow (three times as long)", False, by_profile(careful, times=3.0)),
    Kind("fast and right (a third of the time)", False, by_profile(careful, times=1 / 3)),
    Kind("strict (5 % of right steps bad)", False, by_profile(replace(careful, false_alarm=0.05))),
    Kind("lenient (finds six in ten errors)", False, by_profile(lenient)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--between", type=int, default=2000, help="labels between false alarms")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("DATABASE_URL", "postgresql:///unused")
    os.environ.setdefault("REDIS_URL", "redis://unused")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    import django

    django.setup()
    rows, crowd = [], Counter[str]()
    for kind in (kind for kind in KINDS if options.only in kind.name):
        rows.append(measure(kind, options, crowd))
        print(_line(rows[-1]), flush=True)
    alarms = sum(count for check, count in crowd.items() if check != "labels")
    print(f"\nThe crowd: {_rate(alarms, crowd['labels'])}. {dict(crowd)}")
    if options.json:
        write_json(options.json, {"rows": rows, "crowd": crowd})


def measure(kind: Kind, options: argparse.Namespace, crowd: Counter[str]) -> Row:
    """Simulate one kind in many projects. Alarms about the others are counted in `crowd`."""
    first, checks, alarms, labels = [], Counter[str](), 0, 0
    for number in range(options.replicates):
        bench = Bench(np.random.default_rng([options.first_seed + number, KINDS.index(kind)]))
        bench.fresh = [int(drawn) for drawn in bench.rng.permutation(SOLUTIONS)]
        bench.gold = [bench.fresh.pop() for _ in range(20)]
        named: list[int] = []
        cleared: dict[str, datetime] = {}
        for done in range(1, LABELS + 1):
            for who in (*CROWD, WATCHED):
                label(bench, who, kind, done - 1)
            if done % LOOK_EVERY:
                continue
            for suspicion in look(bench, options.between, cleared):
                cleared[suspicion.who] = bench.labels[-1].at
                if suspicion.who == WATCHED:
                    named.append(done)
                    checks[suspicion.check] += 1
                else:
                    crowd[suspicion.check] += 1
        crowd["labels"] += LABELS * len(CROWD)
        alarms, labels = alarms + len(named), labels + LABELS
        first += named[:1]
    return Row(
        kind=kind.name,
        careless=kind.careless,
        named=len(first) / options.replicates,
        after=median(first) if first else None,
        alarms=alarms,
        labels=labels,
        checks=dict(checks),
    )


def look(bench: Bench, between: int, cleared: dict[str, datetime]) -> list[Any]:
    from annotation.labels.annotators.suspicions import Material, find_suspicions

    material = Material(bench.labels, bench.timed, bench.comments)
    return find_suspicions(material, labels_between_false_alarms=between, cleared_until=cleared)


def label(bench: Bench, who: str, kind: Kind, done: int) -> None:
    """One label by `who`: on gold, on a solution that somebody labelled, or on a new one."""
    from annotation.labels.annotators.haste import Timed
    from annotation.labels.annotators.judged_labels import FirstErrorLabel

    solution = _choose(bench, who)
    trace = _solutions()[solution]
    answered = bench.answered.setdefault(solution, {})
    others = [] if solution in bench.gold else list(answered.values())
    answer = kind.answer if who == WATCHED else by_profile(PROFILES[CROWD[who]])
    first_error, seconds, comment = answered[who] = answer(trace, Past(done, others), bench.rng)
    number = len(bench.labels)
    at = START + timedelta(minutes=number)
    bench.labels.append(FirstErrorLabel(number, solution, who, False, first_error, at, False))
    rated = trace.steps[: first_error + 1] if first_error >= 0 else trace.steps
    characters = sum(len(step.text) for step in rated)
    bench.timed.append(Timed(number, who, at, 1000 * seconds, len(rated), characters))
    if comment:
        bench.comments[number] = frozenset([comment])
    if solution in bench.gold and len(answered) == 1:
        truth = next((n for n, rating in enumerate(trace.meta["truth"]) if rating < 0), -1)
        bench.labels.append(FirstErrorLabel(number + 1, solution, "gold", False, truth, START, True))
        bench.timed.append(Timed(number + 1, "gold", START, 60_000, len(rated), characters))


def _choose(bench: Bench, who: str) -> int:
    drawn = bench.rng.random()
    if drawn < GOLD and (left := [s for s in bench.gold if who not in bench.answered.get(s, {})]):
        return int(bench.rng.choice(left))
    if drawn < GOLD + OVERLAP:
        shared = [s for s, people in bench.answered.items() if len(people) == 1 and who not in people]
        if shared := [s for s in shared if s not in bench.gold]:
            return int(bench.rng.choice(shared))
    return bench.fresh.pop()


@lru_cache
def _solutions() -> list[Trace]:
    return list(generate(WorldConfig(), split="pool", n=SOLUTIONS))


def _rate(alarms: int, labels: int) -> str:
    """Alarms per 1,000 labels with the score interval of a Poisson mean."""
    middle, half = alarms + 1.92, 1.96 * sqrt(alarms + 0.96)
    low, high = (max(1000 * bound / labels, 0.0) for bound in (middle - half, middle + half))
    return f"{1000 * alarms / labels:.2f} ({low:.2f} to {high:.2f}) alarms per 1,000 labels"


def _line(row: Row) -> str:
    after = "" if row.after is None else f"{row.after:.0f}"
    checks = ", ".join(f"{check} {count}" for check, count in sorted(row.checks.items()))
    cells = [row.kind, f"{row.named:.0%}", after, _rate(row.alarms, row.labels), checks]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
