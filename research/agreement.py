"""Measures how often the intervals of agreement contain the truth, and the agreement of twenty real annotators.

    python -m research.agreement --data ../shared/data/agentprocessbench

Simulated annotators label up to the first error. How hard a solution is varies and is the same for all of them, so
that the labels of one solution depend on each other. The truth of a coefficient is its value on 100,000 solutions.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from annotation.labels.agreement import measures
from annotation.labels.agreement.measures import (
    MEASURES,
    RESAMPLES,
    Groups,
    Measured,
    Values,
    agreement_of_all,
    agreement_of_two,
    pairs_of,
)
from prm.evaluation.metrics import format_metric, short

SIZES = (5, 10, 20, 50, 200, 1000)
PROJECTS, TRUTH, RATERS, LONGEST = 300, 100_000, 6, 10
FIRST_SEED = 5000  # those before were looked at while LEAST_SOLUTIONS was chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="AgentProcessBench, for the second table")
    options = parser.parse_args()
    least, measures.LEAST_SOLUTIONS = measures.LEAST_SOLUTIONS, 0  # the pages show no interval below it
    print(*_coverage(), sep="\n")
    measures.LEAST_SOLUTIONS = least
    print(*_annotators(options.data), sep="\n")


def _coverage() -> Iterator[str]:
    """The share of projects whose interval contains the truth, by measure and number of solutions."""
    yield "| measure | truth | " + " | ".join(f"{size:,} solutions" for size in SIZES) + " |"
    yield "|---|---|" + "---|" * len(SIZES)
    whole = simulate(TRUTH, seed=0)
    truths = {name: _measure(whole, name, resamples=0).agreement.value or 0.0 for name in MEASURES}
    hits = {name: {size: [] for size in SIZES} for name in MEASURES}
    for size in SIZES:
        for seed in range(FIRST_SEED, FIRST_SEED + PROJECTS):
            project = simulate(size, seed=seed)
            for name, truth in truths.items():
                of = _measure(project, name).agreement
                hits[name][size].append(of.low is not None and of.high is not None and of.low <= truth <= of.high)
    for name, truth in truths.items():
        cells = [f"{np.mean(hits[name][size]):.0%}" for size in SIZES]
        yield f"| `{name}` | {short(truth)} | {' | '.join(cells)} |"


def _annotators(folder: Path) -> Iterator[str]:
    """The agreement of AgentProcessBench's annotators on steps, all together and by pairs."""
    values = read_annotators(folder)
    yield "\n| measure | 20 annotators | least alike pair | most alike pair |\n|---|---|---|---|"
    pairs = pairs_of(values)
    raters = int(values.rater.max()) + 1
    apart, group = np.unique(values.rater[pairs.one] * raters + values.rater[pairs.other], return_inverse=True)
    solutions = int(values.solution.max()) + 1
    for name in ("steps_alpha", "steps_ordinal_alpha", "steps_fleiss", "steps_kappa"):
        each = agreement_of_two(values, MEASURES[name], pairs, Groups(len(apart), group, solutions))
        known = sorted((of.agreement for of in each if of.agreement.value is not None), key=lambda of: of.value or 0)
        cells = [_measure({"steps": values}, name).agreement, known[0], known[-1]]
        yield f"| `{name}` | {' | '.join(map(format_metric, cells))} |"


def _measure(project: dict[str, Values], name: str, *, resamples: int = RESAMPLES) -> Measured:
    """The agreement of a whole project."""
    measure = MEASURES[name]
    values = project[measure.of]
    solutions = int(values.solution.max()) + 1
    if measure.of_two:
        pairs = pairs_of(values)
        groups = Groups(1, np.zeros(len(pairs.one), dtype=np.int64), solutions)
        return agreement_of_two(values, measure, pairs, groups, resamples=resamples)[0]
    groups = Groups(1, np.zeros(len(values.solution), dtype=np.int64), solutions)
    return agreement_of_all(values, measure, groups, resamples=resamples)[0]


def simulate(solutions: int, *, seed: int) -> dict[str, Values]:
    """The first errors and the ratings of two or three of six annotators of each solution."""
    rng = np.random.default_rng(seed)
    steps = rng.integers(4, LONGEST + 1, solutions)
    easy = rng.beta(4, 2, solutions)
    order = np.argsort(rng.random((solutions, RATERS)), axis=1)
    of = np.repeat(np.arange(solutions), 3)
    rater = order[:, :3].ravel()
    kept = (np.tile(np.arange(3), solutions) < 2) | (rng.random(len(of)) < 0.5)
    of, rater = of[kept], rater[kept]
    true, guessed = _first_errors(steps, rng), _first_errors(steps[of], rng)
    first_error = np.where(rng.random(len(of)) < easy[of], true[of], guessed)
    neutral = rng.random((solutions, LONGEST)) < 0.1
    label, step = np.nonzero(np.arange(LONGEST) < np.where(first_error < 0, steps[of], first_error + 1)[:, None])
    seen = neutral[of[label], step] & (rng.random(len(label)) < 0.7)
    rating = np.where(step == first_error[label], 0, np.where(seen, 1, 2))
    units, unit = np.unique(of[label] * LONGEST + step, return_inverse=True)
    meanings, category = np.unique(first_error, return_inverse=True)
    return {
        "first_errors": Values(of, rater, category, np.arange(solutions), meanings.tolist()),
        "steps": Values(unit, rater[label], rating, units // LONGEST, [-1, 0, 1]),
    }


def _first_errors(steps: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A first error for each solution: none for half of them, else any step."""
    return np.where(rng.random(len(steps)) < 0.5, -1, (rng.random(len(steps)) * steps).astype(int))


def read_annotators(folder: Path) -> Values:
    """The ratings of AgentProcessBench's annotators."""
    rows = [
        (label["record_id"], step, number, rating)
        for number, file in enumerate(sorted((folder / "annotators").glob("*.jsonl")))
        for label in map(json.loads, file.read_text().splitlines())
        for step, rating in label["step_labels"].items()
        if rating is not None
    ]
    records = {record: n for n, record in enumerate(dict.fromkeys(row[0] for row in rows))}
    steps = {step: n for n, step in enumerate(dict.fromkeys(row[:2] for row in rows))}
    return Values(
        np.array([steps[row[:2]] for row in rows]),
        np.array([row[2] for row in rows]),
        np.array([row[3] + 1 for row in rows]),
        np.array([records[record] for record, _step in steps]),
        [-1, 0, 1],
    )


if __name__ == "__main__":
    main()
