"""Measures the alarm for poisoned batches: how often and how soon it fires, and how many alarms are false.

    python -m benchmarks.alarm_power --replicates 40 --json var/alarm-power.json

Simulated annotators label sandbox solutions; one person labels most of them, and two people label some. One account
that was careful before turns: `benchmarks.poison` measures the same with a champion and the gate. The alarm uses only
other people's labels here. No server is needed: labels are made and judged in memory.
"""

import argparse
import os
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from statistics import median

import msgspec
import numpy as np

from prm.files import write_json
from prm.sandbox.annotators import PROFILES, simulate_labels
from prm.sandbox.world import WorldConfig, generate
from prm.traces import Trace

CROWD = {"careful": 4, "average": 3, "lenient": 1}
SOLUTIONS, BEFORE, AFTER = 1600, 400, 400
LOOK_EVERY = 5  # poisoned labels between two checks
START = datetime(2026, 1, 1, tzinfo=UTC)


class Power(msgspec.Struct):
    """The share of replicates with an alarm about the poisoner; the medians of their labels before it and of those that
    were judged; false alarms about others, and all judged labels."""

    kind: str
    share: float
    overlap: float
    named: float
    after: float | None
    judged: float
    false_alarms: int
    judged_in_all: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--between", type=int, default=2000, help="judged labels between false alarms")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("DATABASE_URL", "postgresql:///unused")
    os.environ.setdefault("REDIS_URL", "redis://unused")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    import django

    django.setup()
    from benchmarks.poison import KINDS

    print(
        "| turncoat | of the labels | overlap | named | after (labels) | of them judged | false alarms |\n"
        + "|---" * 7
        + "|"
    )
    found = []
    cases = [("nobody turns", 0.1), *((kind, share) for share in (0.1, 0.3) for kind in KINDS)]
    for overlap in (0.12, 0.3):
        for kind, share in cases:
            found.append(measure(kind, share, overlap, options.replicates, options.between))
            print(_line(found[-1]), flush=True)
    if options.json:
        write_json(options.json, found)


def measure(kind: str, share: float, overlap: float, replicates: int, between: int) -> Power:
    from annotation.labels.annotators.alarm import find_alarms
    from annotation.labels.annotators.judged_labels import judge_by_overlap
    from benchmarks.poison import TURNCOAT

    after, judged, false_alarms, judged_in_all = [], [], 0, 0
    for seed in range(replicates):
        told, poisoned = labels(kind, share, overlap, np.random.default_rng([seed, round(100 * share), len(kind)]))
        references = judge_by_overlap(told)
        alarms = find_alarms(references, labels_between_false_alarms=between)
        judged_in_all += len(references)
        named = TURNCOAT in alarms and bool(poisoned)
        false_alarms += len(alarms) - named
        judged.append(sum(one.label in poisoned for one in references))
        if named:
            after.append(_until_named(told, poisoned, between))
    return Power(
        kind=kind,
        share=share,
        overlap=overlap,
        named=len(after) / replicates,
        after=median(after) if after else None,
        judged=median(judged),
        false_alarms=false_alarms,
        judged_in_all=judged_in_all,
    )


def _until_named(told: list, poisoned: list[int], between: int) -> int:
    """The number of poisoned labels before the alarm; the watch sees labels in their order."""
    from annotation.labels.annotators.alarm import find_alarms
    from annotation.labels.annotators.judged_labels import judge_by_overlap
    from benchmarks.poison import TURNCOAT

    for number in range(LOOK_EVERY, len(poisoned), LOOK_EVERY):
        references = judge_by_overlap(told[: poisoned[number - 1] + 1])
        if TURNCOAT in find_alarms(references, labels_between_false_alarms=between):
            return number
    return len(poisoned)


@lru_cache
def _solutions() -> list[Trace]:
    return list(generate(WorldConfig(), split="pool", n=SOLUTIONS))


def labels(kind: str, share: float, overlap: float, rng: np.random.Generator) -> tuple[list, list[int]]:
    """All labels in order, and the ids of the poisoned ones."""
    from annotation.labels.annotators.judged_labels import FirstErrorLabel
    from benchmarks.poison import KINDS, TURNCOAT, poisoned

    names = [*CROWD, TURNCOAT]
    paces = np.array([*CROWD.values(), 0.0]) / sum(CROWD.values()) * (1 - share)
    paces[-1] = share
    told, bad = [], []
    for number, drawn in enumerate(rng.permutation(SOLUTIONS)[: BEFORE + AFTER]):
        trace = _solutions()[drawn]
        people = rng.choice(names, size=2 if rng.random() < overlap else 1, replace=False, p=paces)
        for name in map(str, people):
            reading = simulate_labels(trace, PROFILES["careful" if name == TURNCOAT else name], rng)
            label = len(told)
            if number >= BEFORE and name == TURNCOAT and kind in KINDS:
                reading = poisoned(kind, reading, len(trace.steps), rng)
                bad.append(label)
            at = START + timedelta(minutes=label)
            told.append(FirstErrorLabel(label, number, name, False, reading.first_error, at, False))
    return told, bad


def _line(one: Power) -> str:
    after = "" if one.after is None else f"{one.after:.0f}"
    false = f"{one.false_alarms} in {one.judged_in_all:,}"
    cells = [one.kind, f"{one.share:.0%}", f"{one.overlap:.0%}", f"{one.named:.0%}", after, f"{one.judged:.0f}", false]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
