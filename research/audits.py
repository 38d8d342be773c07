"""python -m research.audits: audits of the default model on sandbox problems of fresh seeds, as tables in Markdown.

Each seed draws its own problems of a world. A function of the platform chooses the solutions to label, in rounds. The
default configuration learns from them and from the grades of unread ones, and is audited on the holdout. Shares are
pooled over seeds. The last table swaps one group of features at a time between a solution and its edited copy, which
shows the features that an edit moves.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random

import msgspec
import torch

from prm import features
from prm.acquisition import FUNCTIONS
from prm.audits import AUDITS, Subject, run_audits
from prm.audits.gaming import HARMLESS
from prm.audits.report import AuditReport
from prm.audits.subject import Scoring
from prm.commands.audit import retraining
from prm.config import TrainConfig
from prm.encoding import encode
from prm.evaluation.metrics import format_metric
from prm.features import compute_features
from prm.intervals import score_interval
from prm.labels import first_error, without_labels
from prm.scoring import Scorer
from prm.scoring.readers import LocalReader
from prm.simulation.plan import RANDOM, Arm, Plan
from prm.simulation.replay import Choice, choose_by_function, replay
from prm.simulation.running import Source
from prm.simulation.worlds import WORLDS, Sizes
from prm.traces import Trace, write_traces
from prm.training import train

SIZES = Sizes(pool=2000, calibration=150, test=160)
ROUNDS = (50, 100, 200, 400)
AUDITED = ("outcome", "gaming", "transfer", "length", "long", "position", "calibration")
SHARES = ("accepted right solutions, now rejected", "rejected wrong solutions, now accepted")
GROUPS = ("middle states", "last states", "separator", "statistics of numbers", "statistics of signs")
HEAD = "| seed | step AUROC | position alone | length alone | F1 |\n|---:|---:|---:|---:|---:|"
Flips = dict[str, list[list[bool]]]  # by edit, one row per solution: all features, then each group alone and left out


@dataclass(frozen=True)
class Audited:
    """The audits of one model on its holdout, and the verdicts that groups of features flip."""

    seed: int
    report: AuditReport
    flips: Flips


def labelled(function: str, plan: Plan, source: Source) -> set[int]:
    """The places in the pool that a function chooses in the rounds of the plan's one world and seed."""
    read: set[int] = set()

    def choose(choice: Choice) -> list[int]:
        chosen = choose_by_function(choice)
        read.update(set(range(plan.sizes.pool)) - set(choice.left), chosen)
        return chosen

    arm = Arm(plan.worlds[0], 0.0, function, plan.config.graded_weight, plan.seeds[0])
    replay(arm, plan, source.features(arm.world), choose)
    return read


def audit_seed(
    world: str, seed: int, names: Sequence[str], folder: Path, *, function: str, base: str = "tiny"
) -> Audited:
    """Train the default model on the pool of one seed, labelled as `function` chooses, and audit it on its holdout."""
    config = TrainConfig(base=base, seed=seed)
    plan = Plan(
        worlds=(world,),
        functions=(RANDOM,),
        seeds=(seed,),
        budgets=ROUNDS,
        candidates=SIZES.pool,
        sizes=SIZES,
        data_seed=seed,
        config=config,
    )
    source = Source(plan, folder / "cache")
    read = labelled(function, plan, source)
    parts = source.world(world)
    pool = [
        one if place in read else msgspec.structs.replace(without_labels(one, one.steps), alternatives=[])
        for place, one in enumerate(parts.pool)
    ]
    write_traces(folder / "train.jsonl", [*pool, *parts.calibration])
    train(data=folder / "train.jsonl", out=folder / "model", config=config)
    scorer = Scorer.load(folder / "model")
    far_sighted = Scorer(scorer.reader, scorer.judges, manifest=scorer.manifest, long="window")

    def scoring(by: Scorer) -> Scoring:
        return lambda some: list(by.score(some))

    assert scorer.manifest is not None
    traces = parts.test
    with retraining(scorer, folder / "train.jsonl") as training:
        subject = Subject(
            traces=traces,
            scores=scoring(scorer)(traces),
            score=scoring(scorer),
            score_long=scoring(far_sighted),
            threshold=scorer.threshold,
            temperature=scorer.manifest.temperature,
            training=training,
            seed=seed,
        )
        report = run_audits(subject, model="default", data=f"{world}, seed {seed}", names=names)
    return Audited(seed, report, flips_by_group(scorer, traces))


def flips_by_group(scorer: Scorer, traces: Sequence[Trace]) -> Flips:
    """The accepted right solutions that an edit makes rejected, by the features that take the edited values.

    Only edits that keep the number of steps can swap features.
    """
    reader, readout, manifest = scorer.reader, scorer.readout, scorer.manifest
    assert isinstance(reader, LocalReader)
    assert readout is not None
    assert manifest is not None
    backbone, width = reader.backbone, reader.backbone.width
    ends = [width, 2 * width, 3 * width, 3 * width + len(features.MEASURES), 3 * width + 2 * len(features.MEASURES)]
    columns = list(zip([0, *ends], ends, strict=False))

    def read(trace: Trace) -> torch.Tensor:
        items = encode([trace], backbone.tokenizer, backbone.layout, backbone.context)
        return compute_features(backbone, items, manifest.config.token_budget, manifest.config.features)

    def accepts(rows: torch.Tensor) -> bool:
        with torch.no_grad():
            scores = torch.sigmoid(readout.step_logits(rows) / manifest.temperature).mean(0)
        return manifest.threshold.first_below(scores.tolist()) == -1

    flips: Flips = {name: [] for name in HARMLESS}
    for number, trace in enumerate(traces):
        if first_error(trace) != -1 or not accepts(own := read(trace)):
            continue
        for name, (edit, _) in HARMLESS.items():
            edited = edit(trace, Random(number))
            if edited is None or len(edited.steps) != len(trace.steps):
                continue
            other = read(edited)
            row = [not accepts(other)]
            for start, end in columns:
                alone, without = own.clone(), other.clone()
                alone[:, start:end], without[:, start:end] = other[:, start:end], own[:, start:end]
                row += [not accepts(alone), not accepts(without)]
            flips[name].append(row)
    return flips


def print_seed(one: Audited) -> None:
    """The metrics of one seed."""
    report = one.report
    metrics = (report.step_auroc, report.index_auroc, report.length_auroc, report.processbench_f1)
    print(f"| {one.seed} | {' | '.join(map(format_metric, metrics))} |", flush=True)


def print_verdicts(all_audited: Sequence[Audited]) -> None:
    """The verdict of every check of every audit, by seed."""
    checks: dict[tuple[str, str], list[str]] = {}
    for one in all_audited:
        for finding in one.report.findings:
            for check in finding.checks:
                checks.setdefault((finding.audit, check.rule), []).append(check.verdict)
    head = " | ".join(str(one.seed) for one in all_audited)
    print(f"\n| audit | rule | {head} |\n|---|---|{'---|' * len(all_audited)}")
    for (audit, rule), verdicts in checks.items():
        print(f"| {audit} | {rule} | {' | '.join(verdicts)} |")


def print_flips(all_audited: Sequence[Audited]) -> None:
    """The share of verdicts that each group of features flips, over all seeds."""
    print(f"\n| edit | solutions | all features | {' | '.join(GROUPS)} |\n|---|---:|---:|{'---:|' * len(GROUPS)}")
    for name in HARMLESS:
        rows = [row for one in all_audited for row in one.flips[name]]
        if rows:
            whole, *parts = (sum(column) / len(rows) for column in zip(*rows, strict=True))
            pairs = (f"{alone:.0%} / {without:.0%}" for alone, without in zip(parts[::2], parts[1::2], strict=True))
            print(f"| {name} | {len(rows)} | {whole:.0%} | {' | '.join(pairs)} |")


def print_shares(all_audited: Sequence[Audited]) -> None:
    """The shares of verdicts that edits change, over all seeds."""
    counts: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for one in all_audited:
        for finding in one.report.findings:
            for figure in finding.figures:
                if figure.name in SHARES and figure.value.value is not None:
                    counts.setdefault((figure.group, figure.name), []).append((figure.value.value, figure.n))
    print("\n| edit | solutions | verdict changed | by seed |\n|---|---:|---:|---:|")
    for (group, name), parts in counts.items():
        n = sum(size for _, size in parts)
        share = sum(value * size for value, size in parts) / max(n, 1)
        low, high = score_interval(share, max(n, 1))
        each = ", ".join(f"{value:.0%}" for value, _ in parts)
        print(f"| {group}: {name} | {n} | {share:.0%} [{low:.0%}, {high:.0%}] | {each} |")


def print_figures(all_audited: Sequence[Audited]) -> None:
    """The figures of the audits of transfer and of long solutions, by seed."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in all_audited:
        for finding in one.report.findings:
            for figure in finding.figures if finding.audit in ("transfer", "long") else ():
                key = finding.audit, figure.group, figure.name
                rows.setdefault(key, []).append(format_metric(figure.value, signed=figure.signed))
    head = " | ".join(str(one.seed) for one in all_audited)
    print(f"\n| audit | part | figure | {head} |\n|---|---|---|{'---:|' * len(all_audited)}")
    for key, values in rows.items():
        print(f"| {' | '.join(key)} | {' | '.join(values)} |")


def print_all(all_audited: Sequence[Audited]) -> None:
    """Every table of some seeds."""
    print_verdicts(all_audited)
    print_figures(all_audited)
    print_shares(all_audited)
    print_flips(all_audited)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1900, 2000])
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=["sandbox", "rare-errors"])
    parser.add_argument(
        "--functions", nargs="+", default=[RANDOM, "contradiction"], help="what chooses the labelled solutions"
    )
    parser.add_argument("--only", nargs="+", default=list(AUDITED), help="these audits")
    parser.add_argument("--base", default="tiny", help="a backbone, or its folder")
    options = parser.parse_args()
    for name in options.only:
        AUDITS.check(name)
    for name in options.functions:
        FUNCTIONS.check(name)
    for world, function in product(options.worlds, options.functions):
        print(f"\n## {world}, {function}\n\n{HEAD}")
        all_audited = []
        for seed in options.seeds:
            with tempfile.TemporaryDirectory() as folder:
                one = audit_seed(world, seed, options.only, Path(folder), function=function, base=options.base)
            all_audited.append(one)
            print_seed(one)
        print_all(all_audited)


if __name__ == "__main__":
    main()
