"""Simulates campaigns of many rounds under the gate's rule, the rule before it, and simpler ones.

    python -m research.gate

A campaign has 24 rounds. 40 labelled holdout solutions await the first challenger, two to a problem, and 25 more arrive
with each round. A model finds the first error of a solution, or that it has none, if a normal variable lies below the
quantile of the model's accuracy. The variable is shared by all models in half of its variance; the other half drifts
from one challenger to the next. Accuracies and correlations are those of eight models that learned from 150 to 600
labelled sandbox solutions, on 1,500 solutions each (`--pairs` trains and prints them).
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from prm.evaluation.sequential import ERROR_BUDGET, TYPICAL_SPREAD, boundary, detectable_gain, solutions_needed

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Rule = Callable[["Look"], Flags]

ACCURACY = 0.7  # of erroneous and of correct solutions
SHARED, DRIFT = 0.5, 0.91  # share of the variance, and its correlation between neighbouring challengers
IN_PROBLEM = 0.3  # share of the variance that the solutions to one problem share
FIRST, ARRIVING, ROUNDS, PER_PROBLEM = 40, 25, 24, 2
TOLERANCE, LEAST = 0.02, 20
STAKE = 0.25  # of the e-values: the best one for a true gain of two points
SIZES = (150, 200, 250, 300, 350, 400, 500, 600)


@dataclass
class Look:
    """One round of all campaigns: who was exactly right, per campaign and solution, and what labels are known.

    `crowned` and `judged` count the labels at the champion's promotion and at the last gate. `wealth` is the logarithm
    of the e-value, which the rule updates.
    """

    challenger: Flags
    champion: Flags
    erroneous: Flags
    labels: int
    number: int
    crowned: NDArray[np.int64]
    judged: int
    wealth: Numbers

    def compare(self, since: NDArray[np.int64] | None = None) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
        """Gain in F1, its standard error by problem, and the number of solutions, of the labels after `since`."""
        place = np.arange(self.challenger.shape[1])[None]
        first = np.zeros(len(self.challenger), dtype=int) if since is None else since
        known = (place < self.labels) & (place >= first[:, None])
        return gains(self.challenger, self.champion, self.erroneous, known)


def gains(ours: Flags, theirs: Flags, erroneous: Flags, known: Flags) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Gain in F1, its standard error and the number of solutions, per campaign; the error by the delta method."""
    influence = np.zeros(known.shape, dtype=np.float32)
    values = []
    kinds = [(known & kind).astype(np.float32) for kind in (erroneous, ~erroneous)]
    totals = [np.maximum(kind.sum(axis=1), 1) for kind in kinds]
    for right, sign in ((ours, 1), (theirs, -1)):
        hit = right.astype(np.float32)
        a, b = (((hit * kind).sum(axis=1) + 0.5) / (total + 1) for kind, total in zip(kinds, totals, strict=True))
        values.append(2 * a * b / (a + b))
        for kind, total, own, other in ((kinds[0], totals[0], a, b), (kinds[1], totals[1], b, a)):
            slope = 2 * other**2 / (a + b) ** 2 / total
            influence += sign * kind * (hit - own[:, None]) * slope[:, None]
    by_problem = influence.reshape(len(influence), -1, PER_PROBLEM).sum(axis=2)
    error = np.sqrt((by_problem**2).sum(axis=1))
    return values[0] - values[1], np.maximum(error, 1e-6), known.sum(axis=1)


def bounded(look: Look, errors: Callable[[int], float], tolerance: float, *, new: bool = False) -> Flags:
    """Whether the gain is above zero and lies more than `errors` standard errors above -`tolerance`."""
    gain, error, n = look.compare(look.crowned if new else None)
    widths = {size: errors(size) for size in np.unique(n).tolist()}
    width = np.array([widths[size] for size in n.tolist()])
    return (gain > 0) & (gain - width * error > -tolerance) & (n >= LEAST)


def sign_test(look: Look) -> Flags:
    """A one-sided sign test at 5 % on the solutions that exactly one of the two models gets right."""
    won = (look.challenger & ~look.champion)[:, : look.labels].sum(axis=1)
    lost = (look.champion & ~look.challenger)[:, : look.labels].sum(axis=1)
    return won - lost - 1 > 1.645 * np.sqrt(np.maximum(won + lost, 1))


def bet_once(look: Look) -> Flags:
    """A product of e-values against a loss beyond the tolerance; each label is bet on once."""
    new = slice(look.judged, look.labels)
    differences = look.challenger[:, new].astype(float) - look.champion[:, new]
    look.wealth += np.log1p(STAKE * (differences + TOLERANCE)).sum(axis=1)
    return (look.wealth > np.log(1 / ERROR_BUDGET)) & (look.compare()[0] > 0)


def spent(look: Look) -> Flags:
    """A fixed interval whose error rate of 20 % is divided among the rounds."""
    share = ERROR_BUDGET / (look.number * (look.number + 1))
    return bounded(look, lambda n: NormalDist().inv_cdf(1 - share), TOLERANCE)


RULES: dict[str, Rule] = {
    "before: 95 % interval above -2 points": lambda look: bounded(look, lambda n: 1.96, TOLERANCE),
    "any gain above zero": lambda look: look.compare()[0] > 0,
    "sign test at 5 %": sign_test,
    "paired interval above zero at 5 %": lambda look: bounded(look, lambda n: 1.645, 0.0),
    "20 % divided among the rounds": spent,
    "e-values, each label once": bet_once,
    "bound over all rounds, all labels": lambda look: bounded(look, boundary, TOLERANCE),
    "**bound over all rounds, all or new labels**": lambda look: (
        bounded(look, boundary, TOLERANCE) | bounded(look, boundary, TOLERANCE, new=True)
    ),
}


def truths(world: str, campaigns: int, rng: np.random.Generator) -> Numbers:
    """The true F1 of each model above the first champion, [campaigns, 1 + rounds]."""
    kind, value = world.split()
    number = np.arange(ROUNDS + 1)
    if kind == "constant":
        return np.where(number > 0, float(value) / 100, 0.0) * np.ones((campaigns, 1))
    luck = np.where(number > 0, rng.normal(0, 0.01, (campaigns, ROUNDS + 1)), 0.0)  # of a training
    return float(value) / 100 * number + luck


def draw_models(
    truth: Numbers, rng: np.random.Generator, solutions: int = FIRST + ARRIVING * ROUNDS
) -> tuple[NDArray[np.bool_], Flags]:
    """Who is exactly right, [models, campaigns, solutions], and which solutions have an error."""
    campaigns = len(truth)

    def noise() -> NDArray[np.float32]:
        problem = rng.standard_normal((campaigns, solutions // PER_PROBLEM), dtype=np.float32)
        own = rng.standard_normal((campaigns, solutions), dtype=np.float32)
        return np.sqrt(IN_PROBLEM) * np.repeat(problem, PER_PROBLEM, axis=1) + np.sqrt(1 - IN_PROBLEM) * own

    erroneous = rng.random((campaigns, solutions)) < 0.5
    grid = np.linspace(0.01, 0.99, 500)
    quantile = np.interp(ACCURACY + truth, grid, [NormalDist().inv_cdf(p) for p in grid])  # F1 is a = b here
    shared, own = noise(), noise()
    right = []
    for model in range(truth.shape[1]):
        if model:
            own = DRIFT * own + np.sqrt(1 - DRIFT**2) * noise()
        right.append(np.sqrt(SHARED) * shared + np.sqrt(1 - SHARED) * own < quantile[:, model, None])
    return np.array(right), erroneous


def run_campaigns(right: NDArray[np.bool_], erroneous: Flags, truth: Numbers, rule: Rule) -> tuple[Numbers, Numbers]:
    """The true gain of each promotion (nan for none) and the true F1 that serves, [rounds, campaigns]."""
    every = np.arange(len(truth))
    champion, crowned, wealth = np.zeros(len(truth), dtype=int), np.zeros(len(truth), dtype=int), np.zeros(len(truth))
    promoted, serving, judged = [], [], 0
    for number in range(1, ROUNDS + 1):
        labels = FIRST + ARRIVING * (number - 1)
        look = Look(right[number], right[champion, every], erroneous, labels, number, crowned, judged, wealth)
        wins = rule(look)
        promoted.append(np.where(wins, truth[:, number] - truth[every, champion], np.nan))
        champion, crowned = np.where(wins, number, champion), np.where(wins, labels, crowned)
        wealth[wins] = 0
        judged = labels
        serving.append(truth[every, champion])
    return np.array(promoted), np.array(serving)


def share(values: Flags) -> str:
    """A share of campaigns in per cent, with its 95 % interval (Wilson)."""
    n, p, z = len(values), float(values.mean()), 1.96
    middle, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    low, high = ((middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    return f"{100 * p:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def mean(values: Numbers) -> str:
    """A mean over campaigns with its 95 % interval."""
    half = 1.96 * values.std() / np.sqrt(len(values))
    return f"{values.mean():.2f} [{values.mean() - half:.2f}, {values.mean() + half:.2f}]"


def simulate(campaigns: int, seed: int) -> Iterator[str]:
    """The rows of both tables."""
    constant = ("-5", "-2", "0", "1", "2", "5")
    growing = ("0.25", "0.5", "1")
    cells: dict[str, list[str]] = {name: [] for name in RULES}
    lags: dict[str, list[str]] = {name: [] for name in RULES}
    for place, world in enumerate([*(f"constant {g}" for g in constant), *(f"growing {g}" for g in growing)]):
        rng = np.random.default_rng([seed, place])
        truth = truths(world, campaigns, rng)
        right, erroneous = draw_models(truth, rng)
        best = np.maximum.accumulate(truth, axis=1)[:, 1:].T
        for name, rule in RULES.items():
            promoted, serving = run_campaigns(right, erroneous, truth, rule)
            ever = np.isfinite(promoted).any(axis=0)
            if world.startswith("growing"):
                worse = (promoted <= -0.01).any(axis=0)
                lags[name].append(f"{mean(100 * (best - serving).mean(axis=0))} | {share(worse)}")
            else:
                cells[name].append(share(~ever if truth[0, 1] > 0 else ever))
    heads = [
        "false, -5 points",
        "false, -2 points",
        "false, no gain",
        *(f"missed, +{gain} points" for gain in (1, 2, 5)),
    ]
    yield "| rule | " + " | ".join(heads) + " |"
    yield "|---" * (1 + len(constant)) + "|"
    yield from (f"| {name} | " + " | ".join(row) + " |" for name, row in cells.items())
    yield ""
    yield "| rule | " + " | ".join(f"lag, +{g} a round | worse by 1, +{g} a round" for g in growing) + " |"
    yield "|---" * (1 + 2 * len(growing)) + "|"
    yield from (f"| {name} | " + " | ".join(row) + " |" for name, row in lags.items())


def check_forecast(campaigns: int, seed: int) -> Iterator[str]:
    """The rows of a table: the gain that the platform promises to see, and how often the gate then promotes."""
    yield "| labelled holdout solutions | gain shown in 80 % of the cases | promoted at that gain |"
    yield "|---|---|---|"
    start = np.zeros(campaigns, dtype=int)
    for n in (60, 154, 300, 600, 1200, 2400):
        rng = np.random.default_rng([seed, n])
        gain = 0.0
        for _pass in range(2):  # the first draw shows the spread, as earlier rounds do
            right, erroneous = draw_models(np.array([[0.0, gain]] * campaigns), rng, n)
            look = Look(right[1], right[0], erroneous, n, 1, start, 0, np.zeros(campaigns))
            promoted, shown = bounded(look, boundary, TOLERANCE), gain
            gain = detectable_gain(n, float(np.median(look.compare()[1])) * n**0.5, TOLERANCE)
        yield f"| {n} | {100 * shown:.1f} points | {share(promoted)} |"
    needed = (f"{solutions_needed(gain / 100, TYPICAL_SPREAD, TOLERANCE):,} for {gain}" for gain in (5, 2, 1))
    yield f"\nWith a typical spread, a gain in points needs so many solutions: {', '.join(needed)}."


def main() -> None:
    """Print the tables, or the correlations of real pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--campaigns", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=501)
    parser.add_argument("--pairs", action="store_true", help="train sandbox models and print how they differ")
    options = parser.parse_args()
    if options.pairs:
        lines = measure_pairs()
    else:
        figures = (options.campaigns, options.seed)
        lines = chain(simulate(*figures), [""], check_forecast(*figures))
    for line in lines:
        print(line, flush=True)


def measure_pairs(seed: int = 401) -> Iterator[str]:
    """How often two models of different labels differ in being exactly right, and how these correlate."""
    from prm.config import TrainConfig
    from prm.evaluation.columns import columns_of
    from prm.sandbox import WorldConfig, generate
    from prm.scoring import Scorer
    from prm.traces import write_traces
    from prm.training import train

    world = WorldConfig()
    pool = list(generate(world, split="pool", n=max(SIZES), seed=seed))
    calibration = list(generate(world, split="calibration", n=100, seed=seed))
    holdout = list(generate(world, split="holdout", n=1500, seed=seed))
    rows = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            data, model = Path(folder) / "data.jsonl", Path(folder) / "model"
            write_traces(data, [*pool[:size], *calibration])
            manifest = train(data=data, out=model, config=TrainConfig(), report=lambda progress: None)
            solutions, _steps = columns_of(holdout, list(Scorer.load(model).score(holdout)), manifest.threshold)
        rows.append(solutions.exact)
        kinds = (rows[-1][solutions.erroneous == kind].mean() for kind in (1, 0))
        yield f"{size} labels: accuracy {' and '.join(f'{kind:.2f}' for kind in kinds)}"
    for lag in (1, 3, 6):
        pairs = [(rows[k], rows[k + lag]) for k in range(len(rows) - lag)]
        differ = np.mean([np.mean(a != b) for a, b in pairs])
        correlation = np.mean([np.corrcoef(a, b)[0, 1] for a, b in pairs])
        yield f"{lag} apart: {differ:.3f} differ, correlation {correlation:.2f}"


if __name__ == "__main__":
    main()
