"""Checks the planner's 80 % bands: how often the truth lies in them, on generated projects and replayed rounds.

    python -m research.planner --replays var/simulation/arms.jsonl

`--replays` is the result of `python -m prm simulate`, whose every arm is a project of eight rounds. Work is that of
people with days off, uneven days and a pace of their own; opinions are those of the sandbox's annotators, who misjudge
the same hard errors.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
os.environ.setdefault("DATABASE_URL", "postgresql:///")  # never opened
os.environ.setdefault("REDIS_URL", "redis://unused")
django.setup()

from annotation.labels.consensus.fit_report import report_fit
from annotation.labels.consensus.reliability import estimate
from annotation.labels.planning.bands import Band
from annotation.labels.planning.curve import LEAST, Trained, fit_curve
from annotation.labels.planning.opinions import MOST
from annotation.labels.planning.planner import quality_of
from annotation.labels.planning.workload import Day, forecast
from prm.consensus import Evidence, Fit, Step, Vote
from prm.sandbox import WorldConfig, generate
from prm.sandbox.annotators import AnnotatorProfile, simulate_labels
from prm.traces import Trace
from prm.vocabulary import RATINGS

PILOT, GOLD, FRESH = 120, 60, 300  # solutions


class Check:
    """How often the truth lay in a band, the error of the expectation, and that of a simple guess."""

    def __init__(self) -> None:
        self.inside: list[bool] = []
        self.off: list[float] = []
        self.guess_off: list[float] = []

    def add(self, band: Band, truth: float, guess: float) -> None:
        self.inside.append(band.low - 1e-9 <= truth <= band.high + 1e-9)
        self.off.append(abs(band.value - truth))
        self.guess_off.append(abs(guess - truth))

    def row(self, name: str, *, digits: int = 3) -> str:
        n, share = len(self.inside), float(np.mean(self.inside))
        error = 1.96 * (share * (1 - share) / n) ** 0.5
        off, guess = np.mean(self.off), np.mean(self.guess_off)
        inside = f"{share:.2f} [{share - error:.2f}, {share + error:.2f}]"
        return f"| {name} | {n} | {inside} | {off:.{digits}f} | {guess:.{digits}f} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replays", type=Path)
    parser.add_argument("--projects", type=int, default=400)
    parser.add_argument("--crowds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| figure | cases | truth in the 80 % band | error of the expectation | error of the simple guess |")
    print("|---|---|---|---|---|")
    for name, check in check_work(given.projects, given.seed).items():
        print(check.row(name, digits=1))
    for name, check in check_opinions(given.crowds, given.seed).items():
        print(check.row(name))
    if given.replays:
        for name, check in check_curve(given.replays).items():
            print(check.row(name))


def check_work(projects: int, seed: int) -> dict[str, Check]:
    """Days, hours and labels ahead; the simple guess divides by the mean of the past days."""
    random = np.random.default_rng(seed)
    checks: dict[str, Check] = defaultdict(Check)
    for _ in range(projects):
        weeks = int(random.choice([2, 4, 8]))
        days = _work(random)
        past = [next(days) for _ in range(7 * weeks)]
        future = [next(days) for _ in range(700)]
        goal = sum(day.labels for day in past) * float(random.choice([0.5, 1, 2]))
        per_day = sum(day.labels for day in past) / len(past)
        per_label = sum(day.seconds for day in past) / max(sum(day.labels for day in past), 1) / 3600
        work = forecast(past, goal="labels", amount=goal, first_weekday=0)
        if work is None:
            continue
        labels, seconds = (np.cumsum([0.0, *(getattr(day, name) for day in future)]) for name in ("labels", "seconds"))
        days, hours = (float(np.interp(goal, labels, ahead)) for ahead in (np.arange(len(labels)), seconds / 3600))
        case = f"{weeks} weeks known"
        checks[f"days to a number of labels, {case}"].add(work.days, days, goal / per_day)
        checks[f"hours to it, {case}"].add(work.hours, hours, goal * per_label)
        month = forecast(past, goal="days", amount=28, first_weekday=0)
        assert month is not None
        checks[f"labels in 28 days, {case}"].add(month.labels, labels[28], 28 * per_day)
    return dict(sorted(checks.items()))


def _work(random: np.random.Generator) -> Iterator[Day]:
    """The days of a team, from a Monday: each person works on some weekdays, at a pace of their own."""
    people = int(random.integers(2, 7))
    often = random.beta(6, 2, people)
    daily, spread = random.uniform(10, 60, people), random.uniform(2, 6)
    pace = random.lognormal(np.log(90), 0.4, people)
    for weekday in cycle(range(7)):
        works = random.random(people) < (often if weekday < 5 else 0.1)
        labels = np.where(works, random.poisson(random.gamma(spread, daily / spread)), 0)
        seconds = float((labels * pace * random.lognormal(0, 0.2, people)).sum())
        yield Day(weekday, int(labels.sum()), seconds, seconds / 3600 * 30)


def check_opinions(crowds: int, seed: int) -> dict[str, Check]:
    """The share of right labels with 1 to MOST opinions; the simple guess is that of the majority on gold."""
    random = np.random.default_rng(seed)
    checks: dict[str, Check] = defaultdict(Check)
    for crowd in range(crowds):
        people = [_annotator(random, number) for number in range(int(random.integers(3, 7)))]
        traces = list(generate(WorldConfig(), split="pool", n=PILOT + FRESH, seed=1000 * seed + crowd))
        pilot = _votes(traces[:PILOT], people, MOST, random)
        settled = {step: rating for number in range(GOLD) for step, rating in _truth(number, traces[number])}
        votes = [vote for of_solution in pilot for vote in of_solution]
        evidence = Evidence(votes, settled, gold=list(settled))
        fit = estimate(evidence)
        assert fit is not None
        report = report_fit(estimate, evidence, fit, None)
        guess = report.gold.majority.value if report.gold else 0.0
        for quality in quality_of(report):
            fresh = _votes(traces[PILOT:], people, quality.opinions, random)
            truth = _right(traces[PILOT:], fit, fresh)
            checks[f"right labels, {quality.opinions} opinions"].add(quality.right, truth, guess)
    return dict(checks)


def _annotator(random: np.random.Generator, number: int) -> AnnotatorProfile:
    notices, false_alarm = random.uniform(0.55, 0.97), random.uniform(0.005, 0.08)
    return AnnotatorProfile(f"a{number}", notices, false_alarm, 0.02, 0.1, random.uniform(0, 0.5), 3.0, 20.0)


def _votes(
    traces: Sequence[Trace], people: Sequence[AnnotatorProfile], opinions: int, random: np.random.Generator
) -> list[list[Vote]]:
    """The votes on each solution by as many people, drawn for each."""
    votes = []
    for number, trace in enumerate(traces):
        chosen = random.choice(len(people), opinions, replace=False)
        votes.append(
            [
                Vote(number, position, people[who].name, step.rating)
                for who in chosen
                for position, step in enumerate(simulate_labels(trace, people[who], random).steps)
                if step.rating is not None
            ]
        )
    return votes


def _truth(number: int, trace: Trace) -> Iterator[tuple[Step, int]]:
    """The ratings of a solution's steps up to its first error."""
    for position, rating in enumerate(trace.meta["truth"]):
        yield (number, position, 0), int(rating)
        if int(rating) == -1:
            return


def _right(traces: Sequence[Trace], fit: Fit, votes: Sequence[Sequence[Vote]]) -> float:
    """The share of the rated steps up to the true first error whose likeliest rating is the true one."""
    right = []
    posteriors = fit.posteriors([vote for of_solution in votes for vote in of_solution])
    for number, trace in enumerate(traces):
        for step, rating in _truth(number, trace):
            if (posterior := posteriors.get(step)) is not None:
                right.append(RATINGS[int(np.argmax(posterior[: len(RATINGS)]))] == rating)
    return float(np.mean(right))


def check_curve(replays: Path) -> dict[str, Check]:
    """F1 one and two rounds ahead; the simple guess is that of the latest model."""
    checks: dict[str, Check] = defaultdict(Check)
    for line in replays.read_text().splitlines():
        points = json.loads(line)["curve"]["points"]
        trained = [Trained(point["solutions"], point["f1"]) for point in points]
        for known in range(LEAST, len(trained)):
            curve = fit_curve(trained[:known])
            assert curve is not None
            for ahead in (1, 2):
                if known + ahead > len(trained):
                    continue
                then, latest = trained[known + ahead - 1], trained[known - 1]
                case = f"{known if known < 5 else '5 to 7'} rounds known, {ahead} ahead"
                told = curve.after(then.labels)
                checks[f"F1, {case}"].add(told.f1, then.f1, latest.f1)
                checks[f"gain, {case}"].add(told.gain, then.f1 - latest.f1, 0.0)
    return dict(sorted(checks.items()))


if __name__ == "__main__":
    main()
