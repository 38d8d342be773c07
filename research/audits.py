"""python -m research.audits: audits of the default model on sandbox problems of fresh seeds, as tables in Markdown.

Each seed draws its own problems, trains the default configuration on labelled solutions and on the grades of unread
ones, and audits the model on the holdout. Shares are pooled over seeds.
"""

import argparse
import tempfile
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import msgspec

from prm.audits import AUDITS, Subject, run_audits
from prm.audits.report import AuditReport
from prm.audits.subject import Scoring
from prm.config import TrainConfig
from prm.evaluation.metrics import format_metric
from prm.labels import without_labels
from prm.sandbox import WorldConfig, generate
from prm.scoring import Scorer
from prm.traces import write_traces
from prm.training import train

POOL, LABELLED, CALIBRATION, HOLDOUT = 1600, 400, 200, 300
AUDITED = ("gaming", "outcome", "length", "position", "calibration")
SHARES = ("accepted right solutions, now rejected", "rejected wrong solutions, now accepted")


def audit_seed(seed: int, names: Sequence[str], folder: Path) -> AuditReport:
    """Train the default model on the pool of one seed and audit it on its holdout."""
    pool = list(generate(WorldConfig(), split="pool", n=POOL, seed=seed))
    graded = [msgspec.structs.replace(without_labels(one, one.steps), alternatives=[]) for one in pool[LABELLED:]]
    held = generate(WorldConfig(), split="calibration", n=CALIBRATION, seed=seed)
    write_traces(folder / "train.jsonl", [*pool[:LABELLED], *graded, *held])
    train(data=folder / "train.jsonl", out=folder / "model", config=TrainConfig(seed=seed))
    scorer = Scorer.load(folder / "model")
    far_sighted = Scorer(scorer.reader, scorer.judges, manifest=scorer.manifest, long="window")

    def scoring(by: Scorer) -> Scoring:
        return lambda some: list(by.score(some))

    assert scorer.manifest is not None
    traces = list(generate(WorldConfig(), split="holdout", n=HOLDOUT, seed=seed))
    subject = Subject(
        traces=traces,
        scores=scoring(scorer)(traces),
        score=scoring(scorer),
        score_long=scoring(far_sighted),
        threshold=scorer.threshold,
        temperature=scorer.manifest.temperature,
        seed=seed,
    )
    return run_audits(subject, model="default", data=f"sandbox, seed {seed}", names=names)


def print_seed(seed: int, report: AuditReport) -> None:
    """The metrics and verdicts of one seed."""
    metrics = (report.step_auroc, report.index_auroc, report.length_auroc, report.processbench_f1)
    verdicts = ", ".join(f"{one.audit} {one.verdict}" for one in report.findings)
    print(f"| {seed} | {' | '.join(map(format_metric, metrics))} | {verdicts} |", flush=True)


def print_shares(reports: Sequence[AuditReport]) -> None:
    """The shares of verdicts that edits change, over all seeds."""
    counts: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for report in reports:
        for finding in report.findings:
            for figure in finding.figures:
                if figure.name in SHARES and figure.value.value is not None:
                    counts.setdefault((figure.group, figure.name), []).append((figure.value.value, figure.n))
    print("\n| edit | solutions | verdict changed | by seed |\n|---|---:|---:|---:|")
    for (group, name), parts in counts.items():
        n = sum(size for _, size in parts)
        share = sum(value * size for value, size in parts) / max(n, 1)
        low, high = wilson(share, max(n, 1))
        each = ", ".join(f"{value:.0%}" for value, _ in parts)
        print(f"| {group}: {name} | {n} | {share:.0%} [{low:.0%}, {high:.0%}] | {each} |")


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of `n` (Wilson 1927)."""
    z = 1.96
    middle, half = share + z * z / (2 * n), z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[500, 501, 502])
    parser.add_argument("--only", nargs="+", default=list(AUDITED), help="these audits")
    options = parser.parse_args()
    for name in options.only:
        AUDITS.check(name)
    print("| seed | step AUROC | position alone | length alone | F1 | verdicts |\n|---:|---:|---:|---:|---:|---|")
    reports = []
    for seed in options.seeds:
        with tempfile.TemporaryDirectory() as folder:
            reports.append(audit_seed(seed, options.only, Path(folder)))
        print_seed(seed, reports[-1])
    print_shares(reports)


if __name__ == "__main__":
    main()
