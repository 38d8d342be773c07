"""Measures the intervals of label audits, and what a person who follows two judges is worth on real judges.

    python -m research.labour --data ../shared/data/agentprocessbench

The first table simulates projects whose second generation has harder solutions and a larger share of audits. In the
second, AgentProcessBench's gold labels stand for people.
"""

import argparse
import json
import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
os.environ.setdefault("DATABASE_URL", "postgresql:///")  # never opened
os.environ.setdefault("REDIS_URL", "redis://unused")
django.setup()  # the rules and the draw are the platform's

from annotation.labels.labour.audit_estimates import Audit, accuracy_from
from annotation.loop.selection.routing import draw_audits
from annotation.models.routing_policy import RouteRule
from annotation.work.labelling.handing_over import JudgeAnswer, reason_for
from prm.intervals import score_interval

SIZES = (200, 1000, 5000)
SHARES = ((0.05, 0.05), (0.05, 0.2), (0.1, 0.4))
PROJECTS, FIRST_SEED = 1000, 5000
EASY, HARD = 0.9, 0.7  # how often judges are right in each generation
RULE = RouteRule(route="judge_then_person", judges=2)
SHOWN = (
    ("Llama-3.1-8B-Instruct", "Qwen3-8B"),
    ("Qwen3-30B-A3B-Instruct-2507", "Llama-3.3-70B-Instruct"),
    ("DeepSeek-V3.2", "GPT-5.2-Chat"),
    ("GPT-5.2-Thinking_-medium", "Gemini-3-Flash-Preview-Thinking"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="AgentProcessBench, for the second table")
    options = parser.parse_args()
    print(*_coverage(), sep="\n")
    print(*_routes(options.data), sep="\n")


def _coverage() -> Iterator[str]:
    """How often the intervals contain the truth, with the weights 1/p and without."""
    yield "| judged solutions | audited | covered | covered without weights | width | too few audits |"
    yield "|---|---|---|---|---|---|"
    for size in SIZES:
        for shares in SHARES:
            weighted, plain, widths = [], [], []
            for seed in range(FIRST_SEED, FIRST_SEED + PROJECTS):
                truth, audits = _audited_project(size, shares, np.random.default_rng(seed))
                estimate = accuracy_from(audits)
                if estimate is None:
                    continue
                weighted.append(estimate.low <= truth <= estimate.high)
                widths.append(estimate.high - estimate.low)
                low, high = score_interval(sum(audit.right for audit in audits) / len(audits), len(audits))
                plain.append(low <= truth <= high)
            few = 1 - len(weighted) / PROJECTS
            figures = [f"{np.mean(of):.1%}" for of in (weighted, plain)] if weighted else ["–", "–"]
            width = f"{np.mean(widths):.2f}" if widths else "–"
            audited = f"{shares[0]:.0%}, then {shares[1]:.0%}"
            yield f"| {size:,} | {audited} | {' | '.join(figures)} | {width} | {few:.0%} |"


def _audited_project(size: int, shares: tuple[float, float], rng: np.random.Generator) -> tuple[float, list[Audit]]:
    """The share of right labels of judges in two equal generations, and their audits."""
    right = [rng.random(size // 2) < accuracy for accuracy in (EASY, HARD)]
    audits = [
        Audit(bool(one), share)
        for labels, share in zip(right, shares, strict=True)
        for one in labels[draw_audits(len(labels), share, rng)]
    ]
    return float(np.concatenate(right).mean()), audits


def _routes(folder: Path) -> Iterator[str]:
    """The accuracy on the first error of one judge, and of two judges and then a person, beside a random hand-over."""
    gold = _read(folder / "gold.jsonl")
    judges = {file.stem: _read(file) for file in sorted((folder / "annotators").glob("*.jsonl"))}
    yield "\n| judges | first alone | handed to a person | judges, then person | as many at random |"
    yield "|---|---|---|---|---|"
    for one, other in SHOWN:
        alone, handed, follows, random = _follow(judges[one], judges[other], gold)
        interval = "{:.1%} to {:.1%}".format(*score_interval(follows, len(gold)))
        yield f"| {one}, {other} | {alone:.1%} | {handed:.0%} | {follows:.1%} ({interval}) | {random:.1%} |"
    pairs = np.array([_follow(judges[one], judges[other], gold) for one, other in combinations(judges, 2)])
    alone, handed, follows, random = pairs.mean(axis=0)
    yield f"| mean of {len(pairs)} pairs | {alone:.1%} | {handed:.0%} | {follows:.1%} | {random:.1%} |"
    better = int((pairs[:, 2] > pairs[:, 3]).sum())
    yield f"\nIn {better} of {len(pairs)} pairs, following judges who differ is better than a random hand-over."


def _follow(
    one: dict[str, JudgeAnswer], other: dict[str, JudgeAnswer], gold: dict[str, JudgeAnswer]
) -> tuple[float, float, float, float]:
    """The first judge's accuracy, the share that a person gets, the accuracy then, and with a random hand-over."""
    silent = JudgeAnswer(None)
    answers = {key: (one.get(key, silent), other.get(key, silent)) for key in gold}
    right = {key: pair[0].first_error == gold[key].first_error for key, pair in answers.items()}
    handed = {key for key, pair in answers.items() if reason_for(RULE, pair, None)}
    alone, share = float(np.mean(list(right.values()))), len(handed) / len(gold)
    follows = float(np.mean([key in handed or right[key] for key in gold]))
    return alone, share, follows, alone + share * (1 - alone)


def _read(file: Path) -> dict[str, JudgeAnswer]:
    """The first error of each record, as the number of its message, and the steps that are rated null."""
    answers = {}
    for row in map(json.loads, file.read_text().splitlines()):
        ratings = {int(step): rating for step, rating in row["step_labels"].items()}
        bad = [step for step, rating in ratings.items() if rating == -1]
        unsure = sum(rating is None for rating in ratings.values())
        answers[row["record_id"]] = JudgeAnswer(min(bad, default=-1), unsure)
    return answers


if __name__ == "__main__":
    main()
