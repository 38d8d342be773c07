"""Compares consensus models on public crowds with known truth, and on simulated people and judges.

    python -m research.consensus --data ../shared/data

AgentProcessBench's queries with even numbers were used in development, so the figures are of the others. Its known
truth is gold in 0 % or 20 % of the solutions, and models are measured on the rest. Intervals are of the mean over
random subsets of the annotators, by a bootstrap over queries.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from annotation.labels.consensus import mace, reliability
from annotation.labels.consensus.chains import NEVER, Array, Ballots, Indices, count_votes, expect, shares
from prm.consensus import Evidence, Fit, Step, Vote
from prm.sandbox import WorldConfig, generate
from prm.sandbox.annotators import AnnotatorProfile, simulate_labels
from prm.vocabulary import RATINGS

SIZES, SUBSETS, GOLD = (2, 3, 5, 10, 20), 20, 0.2
SEED, WORLDS = 20261123, 12
LEAST = 1e-3  # probability that a log-likelihood counts a lower one as
Posteriors = Mapping[Step, Sequence[float]]
Model = Callable[[Evidence], Posteriors]


def dawid_skene(items: Indices, people: Indices, words: Indices, classes: int) -> tuple[Array, Array, Array]:
    """The maximum-likelihood prior [classes], confusion [people, classes, words] and posterior [items, classes].

    A. P. Dawid and A. M. Skene, Applied Statistics 28 (1979), by EM from the shares of the votes.
    """
    count = int(items.max()) + 1
    apart = np.arange(count)
    ballots = Ballots(items, people, words, apart, np.zeros(count, int), np.full(count, -1), np.ones(count), apart)
    truth = np.zeros((count, classes + 1))
    np.add.at(truth, (items, words), 1.0)
    truth = shares(truth)
    for _ in range(500):
        counts = count_votes(ballots, truth, np.ones(len(items)), int(people.max()) + 1, classes)
        confusion, prior = shares(counts + NEVER), shares(truth[:, :-1].sum(axis=0))
        before, truth = truth, expect(ballots, prior[None], confusion, np.ones(len(items)))
        if np.abs(truth - before).max() < 1e-6:
            break
    return prior, confusion[:, :-1], truth[:, :-1]


def by_shares(evidence: Evidence, added: float = 0.0) -> Posteriors:
    """The share of each rating, with `added` ratings of each."""
    counts: dict[Step, Array] = defaultdict(lambda: np.full(len(RATINGS), added))
    for vote in evidence.votes:
        counts[vote.step][RATINGS.index(vote.rating)] += 1
    return {step: shares(votes) for step, votes in counts.items()}


def by_calibrated_shares(evidence: Evidence) -> Posteriors:
    """Smoothed shares to a power, times a weight of each class, both fitted to gold: the strongest simple baseline."""
    smooth = by_shares(evidence, 0.5)
    if not evidence.gold:
        return smooth
    gold = [step for step in evidence.gold if step in smooth]
    logs = np.log(np.array([smooth[step] for step in gold]))
    true = np.array([RATINGS.index(evidence.settled[step]) for step in gold])
    best = (np.inf, 1.0, np.zeros(len(RATINGS)))
    for power in np.geomspace(0.25, 4, 13):
        offset = np.zeros(len(RATINGS))
        for _ in range(200):  # until the expected classes are those of gold
            p = shares(np.exp(power * logs + offset))
            offset += np.log((np.bincount(true, minlength=len(RATINGS)) + 0.5) / (p.sum(axis=0) + 0.5))
        loss = -np.log(p[np.arange(len(true)), true]).mean()
        if loss < best[0]:
            best = (loss, float(power), offset)
    return {step: shares(np.exp(best[1] * np.log(share) + best[2])) for step, share in smooth.items()}


def by_dawid_skene(evidence: Evidence) -> Posteriors:
    steps = {step: n for n, step in enumerate(dict.fromkeys(vote.step for vote in evidence.votes))}
    people = {person: n for n, person in enumerate(sorted({vote.person for vote in evidence.votes}))}
    used = [rating for rating in RATINGS if any(vote.rating == rating for vote in evidence.votes)]
    _, _, truth = dawid_skene(
        np.array([steps[vote.step] for vote in evidence.votes]),
        np.array([people[vote.person] for vote in evidence.votes]),
        np.array([used.index(vote.rating) for vote in evidence.votes]),
        len(used),
    )
    posteriors = np.zeros((len(steps), len(RATINGS)))
    posteriors[:, [RATINGS.index(rating) for rating in used]] = truth
    return dict(zip(steps, posteriors.tolist(), strict=True))


def posteriors_of(fit: Fit | None, evidence: Evidence) -> Posteriors:
    """The posterior of each step that has votes."""
    if fit is None:
        return by_shares(evidence)
    return {step: posterior[:3] for step, posterior in fit.posteriors(evidence.votes).items()}


MODELS: dict[str, Model] = {
    "shares": by_shares,
    "shares, smoothed": lambda evidence: by_shares(evidence, 0.5),
    "shares, fitted to gold": by_calibrated_shares,
    "Dawid and Skene": by_dawid_skene,
    "MACE": lambda evidence: posteriors_of(mace.estimate(evidence), evidence),
    "reliability": lambda evidence: posteriors_of(reliability.estimate(evidence), evidence),
}


@dataclass(frozen=True)
class Figures:
    """Accuracy, negative log-likelihood, Brier score and calibration error of posteriors, and the share that is wrong
    of those beyond .99, with the share that lies there."""

    accuracy: float
    nll: float
    brier: float
    ece: float
    extreme: float
    wrong: float


def measure(posteriors: Posteriors, truth: Mapping[Step, int]) -> Figures:
    steps = [step for step in truth if step in posteriors]
    p = np.array([posteriors[step] for step in steps])
    true = np.array([RATINGS.index(truth[step]) for step in steps])
    right, sure = p.argmax(axis=1) == true, p.max(axis=1)
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = [abs(right[bins == n].mean() - sure[bins == n].mean()) * (bins == n).mean() for n in np.unique(bins)]
    extreme = sure > 0.99
    return Figures(
        float(right.mean()),
        float(-np.log(np.maximum(p[np.arange(len(true)), true], LEAST)).mean()),
        float(((p - np.eye(len(RATINGS))[true]) ** 2).sum(axis=1).mean()),
        float(sum(gaps)),
        float(extreme.mean()),
        float(1 - right[extreme].mean()) if extreme.any() else 0.0,
    )


def read_crowd(data: Path, name: str) -> tuple[list[Vote], dict[Step, int]]:
    """The votes and the truth of a set with two classes."""
    ratings = {1: 1, 2: -1}
    votes = np.loadtxt(data / f"crowd/{name}_crowd.txt", dtype=int).tolist()
    truth = np.loadtxt(data / f"crowd/{name}_truth.txt", dtype=int).tolist()
    return (
        [Vote(item, 0, f"{worker:03}", ratings[word]) for item, worker, word in votes],
        {(item, 0, 0): ratings[word] for item, word in truth},
    )


def read_processes(data: Path) -> tuple[list[Vote], dict[Step, int]]:
    """The votes and the truth of AgentProcessBench; a solution is (query, sample)."""

    def ratings(path: Path) -> Iterator[tuple[Step, int]]:
        for line in path.read_text().splitlines():
            row = json.loads(line)
            for position, rating in row["step_labels"].items():
                if rating is not None:
                    yield ((row["query_index"], row["sample_index"]), int(position), 0), rating

    folder = data / "agentprocessbench"
    files = sorted((folder / "annotators").glob("*.jsonl"))
    votes = [Vote(step[0], step[1], path.stem, rating) for path in files for step, rating in ratings(path)]
    return votes, dict(ratings(folder / "gold.jsonl"))


def compare_crowds(data: Path) -> None:
    print("| set | model | accuracy | NLL | Brier | ECE | beyond .99 | wrong |\n" + "|---" * 8 + "|")
    for name in ("bluebird", "rte"):
        votes, truth = read_crowd(data, name)
        for model, judge in MODELS.items():
            if model != "shares, fitted to gold":
                print(f"| {name} | {model} | {_row(measure(judge(Evidence(votes)), truth))} |", flush=True)


def compare_processes(data: Path) -> None:
    """The table of AgentProcessBench by number of raters, without and with gold."""
    all_votes, all_truth = read_processes(data)
    truth = {step: rating for step, rating in all_truth.items() if step[0][0] % 2}  # type: ignore[index]
    votes = [vote for vote in all_votes if vote.step in truth]
    names = sorted({vote.person for vote in votes})
    solutions = sorted({vote.solution for vote in votes})  # type: ignore[type-var]
    print(
        "| gold | raters | model | accuracy | less that of shares | NLL | less that of shares | Brier | ECE |", end=""
    )
    print(" beyond .99 | wrong |\n" + "|---" * 11 + "|")
    for share in (0.0, GOLD):
        for size in SIZES:
            losses: dict[str, list[dict[Step, float]]] = defaultdict(list)
            hits: dict[str, list[dict[Step, float]]] = defaultdict(list)
            figures: dict[str, list[Figures]] = defaultdict(list)
            for number in range(SUBSETS if size < len(names) else SUBSETS // 4):
                rng = np.random.default_rng([SEED, size, number])
                raters = set(rng.choice(names, size, replace=False).tolist())
                drawn = {solutions[n] for n in rng.permutation(len(solutions))[: int(share * len(solutions))]}
                settled = {step: rating for step, rating in truth.items() if step[0] in drawn}
                rest = {step: rating for step, rating in truth.items() if step[0] not in drawn}
                evidence = Evidence([vote for vote in votes if vote.person in raters], settled, list(settled))
                for model, judge in MODELS.items():
                    posteriors = judge(evidence)
                    figures[model].append(measure(posteriors, rest))
                    true = {step: RATINGS.index(rating) for step, rating in rest.items() if step in posteriors}
                    losses[model].append({at: -np.log(max(posteriors[at][it], LEAST)) for at, it in true.items()})
                    hits[model].append({at: float(np.argmax(posteriors[at]) == it) for at, it in true.items()})
            for model, some in figures.items():
                if share or model != "shares, fitted to gold":
                    mean = Figures(*(np.mean([vars(one)[name] for one in some]) for name in vars(some[0])))
                    cells = _row(mean).split(" | ")
                    cells.insert(2, _difference(losses[model], losses["shares"]))
                    cells.insert(1, _difference(hits[model], hits["shares"]))
                    print(f"| {share:.0%} | {size} | {model} | {' | '.join(cells)} |", flush=True)


def _difference(values: list[dict[Step, float]], others: list[dict[Step, float]]) -> str:
    """The mean difference with its 95 % interval by a bootstrap over queries."""
    by_query: dict[int, list[float]] = defaultdict(list)
    for mine, other in zip(values, others, strict=True):
        for step, value in mine.items():
            by_query[step[0][0]].append(value - other[step])  # type: ignore[index]
    sums = np.array([[sum(part), len(part)] for part in by_query.values()])
    rng = np.random.default_rng(SEED)
    draws = sums[rng.integers(len(sums), size=(2000, len(sums)))].sum(axis=1)
    low, high = np.quantile(draws[:, 0] / draws[:, 1], [0.025, 0.975])
    total = sums.sum(axis=0)
    return f"{total[0] / total[1]:+.3f} [{low:+.3f}, {high:+.3f}]"


def _row(figures: Figures) -> str:
    return " | ".join(f"{value:.3f}" for value in vars(figures).values())


def simulate(
    rng: np.random.Generator,
    *,
    steps: int,
    skills: Mapping[str, float],
    copies: Sequence[str] = (),
    copied: float = 0.75,
    misleading: float = 0.0,
) -> tuple[dict[Step, int], list[Vote]]:
    """People who rate steps with their skill, and near copies of one judge with the skill `copied`.

    A skill of 0 is a spammer who rates all steps good. On a share of `misleading` steps, all take one wrong rating for
    the truth.
    """
    truth: dict[Step, int] = {}
    votes = []
    for number in range(steps):
        true = int(rng.choice(RATINGS, p=(0.7, 0.1, 0.2)))
        others = [rating for rating in RATINGS if rating != true]
        seems = int(rng.choice(others)) if rng.random() < misleading else true
        truth[number, 0, 0] = true

        def say(skill: float, seems: int = seems) -> int:
            if not skill:
                return 1
            return seems if rng.random() < skill else int(rng.choice([r for r in RATINGS if r != seems]))

        votes += [Vote(number, 0, name, say(skill)) for name, skill in skills.items()]
        judge = say(copied)
        votes += [Vote(number, 0, name, judge if rng.random() < 0.97 else say(copied)) for name in copies]
    return truth, votes


def compare_simulations() -> None:
    """Copying judges and spammers: accuracy on steps that are not settled, over new worlds."""
    judges = ("judge 1", "judge 2", "judge 3")
    family = dict.fromkeys(judges, "family")
    anna, five = {"anna": 0.93}, dict.fromkeys("abcde", 0.85)
    spammers = {"a": 0.9, "b": 0.9, **dict.fromkeys(("s1", "s2", "s3"), 0.0)}
    worlds = {
        "anna, 3 copies, 100 adjudications": (anna, judges, 100, {}),
        "the same, one family": (anna, judges, 100, family),
        "5 people, 3 copies": (five, judges, 0, {}),
        "2 people, 3 spammers": (spammers, (), 0, {}),
    }
    print("| world | " + " | ".join(MODELS) + " |\n" + "|---" * (1 + len(MODELS)) + "|")
    for name, (skills, copies, settled, families) in worlds.items():
        right = defaultdict(list)
        for number in range(10):
            rng = np.random.default_rng([SEED, number])
            truth, votes = simulate(rng, steps=600, skills=skills, copies=copies)
            known = dict(list(truth.items())[:settled])
            rest = dict(list(truth.items())[settled:])
            for model, judge in MODELS.items():
                right[model].append(measure(judge(Evidence(votes, known, (), families)), rest).accuracy)
        cells = [
            f"{np.mean(some):.3f} ± {1.96 * np.std(some, ddof=1) / len(some) ** 0.5:.3f}" for some in right.values()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def stop_at_errors(seed: int, *, solutions: int, opinions: int = 3) -> tuple[dict[Step, int], list[Vote]]:
    """The truth up to each first error, and the votes of people who stop at the one they find, in the sandbox's world.

    Each solution has `opinions` of eight people, who overlook 5 to 45 % of the errors.
    """
    rng = np.random.default_rng(seed)
    uniform = rng.uniform
    people = [
        AnnotatorProfile(f"p{n}", uniform(0.55, 0.95), uniform(0.005, 0.06), 0.02, 0.1, uniform(0, 0.4), 3, 20)
        for n in range(8)
    ]
    truth: dict[Step, int] = {}
    votes = []
    for number, trace in enumerate(generate(WorldConfig(), split="pool", n=solutions, seed=seed)):
        for who in rng.choice(len(people), opinions, replace=False):
            for position, step in enumerate(simulate_labels(trace, people[who], rng).steps):
                if step.rating is not None:
                    votes.append(Vote(number, position, people[who].name, step.rating))
        for position, rating in enumerate(trace.meta["truth"]):
            truth[number, position, 0] = int(rating)
            if int(rating) == -1:
                break
    return truth, votes


def compare_stopping() -> None:
    """Accuracy and NLL in new worlds of people who stop at the first error they find."""
    print(
        "| gold | opinions | model | accuracy | less that of shares | NLL | beyond .99 | wrong |\n" + "|---" * 8 + "|"
    )
    for share, opinions in ((0.0, 2), (0.0, 3), (0.0, 5), (0.1, 3)):
        figures: dict[str, list[Figures]] = defaultdict(list)
        for seed in range(WORLDS):
            truth, votes = stop_at_errors(SEED + seed, solutions=1000, opinions=opinions)
            gold = {step: rating for step, rating in truth.items() if step[0] < share * 1000}  # type: ignore[operator]
            rest = {step: rating for step, rating in truth.items() if step not in gold}
            for model, judge in MODELS.items():
                figures[model].append(measure(judge(Evidence(votes, gold, list(gold))), rest))
        for model, some in figures.items():
            if share or model != "shares, fitted to gold":
                accuracy = np.array([one.accuracy for one in some])
                less = accuracy - [one.accuracy for one in figures["shares"]]
                error = 1.96 * less.std(ddof=1) / WORLDS**0.5
                rest_of = [np.mean([vars(one)[name] for one in some]) for name in ("nll", "extreme", "wrong")]
                cells = " | ".join(f"{value:.3f}" for value in rest_of)
                print(f"| {share:.0%} | {opinions} | {model} | {accuracy.mean():.4f} ", end="")
                print(f"| {less.mean():+.4f} ± {error:.4f} | {cells} |", flush=True)


def measure_coverage() -> None:
    """How often the interval of a person's informedness has the true one, by the number of shared steps."""
    print("| shared steps | intervals with the truth | mean width |\n|---|---|---|")
    for steps in (5, 20, 100, 400):
        inside, widths = [], []
        for number in range(40):
            rng = np.random.default_rng([SEED, steps, number])
            skills = {name: float(rng.uniform(0.6, 0.98)) for name in "abcd"}
            _, votes = simulate(rng, steps=steps, skills=skills)
            fit = reliability.estimate(Evidence(votes))
            assert fit is not None
            for name, skill in skills.items():
                measured = fit.reliability(name)
                inside.append(measured.low <= skill - (1 - skill) / 2 <= measured.high)
                widths.append(measured.high - measured.low)
        print(f"| {steps} | {np.mean(inside):.3f} of {len(inside)} | {np.mean(widths):.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    for title, table in (
        ("Public crowds", lambda: compare_crowds(options.data)),
        ("AgentProcessBench", lambda: compare_processes(options.data)),
        ("Copies and spammers", compare_simulations),
        ("People who stop at the first error", compare_stopping),
        ("Coverage", measure_coverage),
    ):
        print(f"\n## {title}\n")
        table()


if __name__ == "__main__":
    main()
