"""Measures training choices on the sandbox world: features, classes, balance, noise, pairs, outcomes, anchors.

    OMP_NUM_THREADS=1 nice .venv/bin/python -m research.prm_choices --json var/prm-choices.json

Each choice changes one thing of a plain configuration with two classes, no anchors and no pairs. Each row is the mean
over seeds, each with its own draw of the pool and the weights. Heads train on features of the frozen tiny backbone.
Temperatures and thresholds are fitted on the calibration split; all figures are of the holdout split. Differences are
paired: the same seeds and holdout solutions, with problems resampled together.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray

from prm.backbones import load_backbone
from prm.cards import markdown_table
from prm.config import FEATURES, TrainConfig
from prm.encoding import encode
from prm.evaluation.columns import columns_of
from prm.evaluation.metrics import Metric, as_metric, draws_of, expected_calibration_error, format_metric, ranking
from prm.evaluation.report import processbench
from prm.features import compute_features, feature_width, row_offsets
from prm.labels import BAD, GOOD
from prm.sandbox import WORLD_VERSION, WorldConfig, generate, generate_pools
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.threshold import Threshold
from prm.traces import Alternative, StepLabel, Trace, write_traces
from prm.training import train
from prm.training.caches import Cache

SIZES = (300, 1000)
CALIBRATION, HOLDOUT, HOLDOUT_SEED = 400, 800, 1
DONORS, BESIDE = 24, 2  # solutions of a problem to search for alternatives, and the most alternatives at a position
PLAIN = {
    "anchor": 0.0,
    "pairwise_weight": 0.0,
    "class_balance": "none",
}  # each choice changes one setting of these
FLIPPED = 0.2
ANCHORS = (0.01, 0.1, 1.0)
SPREAD = "Disagreement where the heads have not been"
UNSEEN = "agents"  # the domain that training leaves out to measure the spread
Samples = NDArray[np.floating]  # a figure for each draw of holdout problems; the first is the holdout itself


@dataclass(frozen=True)
class Choice:
    """One way to train: the changes of the plain configuration, and the labels to train on."""

    name: str
    changes: dict[str, Any] = field(default_factory=dict)
    labels: str = "plain"


GROUPS: dict[str, list[Choice]] = {
    "What the heads see of a step": [
        Choice("states of the numbers, separator, statistics"),
        Choice("last token alone", {"features": ("separator",)}),
        Choice("pooled states of the last layer", {"features": ("last",)}),
        Choice("all states, no statistics", {"features": ("middle", "last", "separator")}),
        Choice("all states, statistics", {"features": ("middle", "last", "separator", "statistics")}),
    ],
    "Classes and their balance": [
        Choice("two classes, not balanced"),
        Choice("three classes", {"classes": 3}),
        Choice("balanced by inverse counts, cap 10", {"class_balance": "inverse"}),
        Choice("balanced by effective numbers, cap 10", {"class_balance": "effective"}),
        Choice("for the calibration split's shares", {"class_balance": "held"}),
    ],
    "Anchors": [
        Choice("none"),
        *(Choice(f"anchor {anchor:g}", {"anchor": anchor}) for anchor in ANCHORS),
    ],
    "Of every five training labels one is flipped": [
        Choice("cross-entropy", labels="flipped"),
        Choice("label smoothing 0.1", {"label_smoothing": 0.1}, "flipped"),
        Choice("generalised cross-entropy, q = 0.7", {"robustness": 0.7}, "flipped"),
    ],
    "The same robustness where no label is flipped": [
        Choice("cross-entropy"),
        Choice("generalised cross-entropy, q = 0.7", {"robustness": 0.7}),
    ],
    "Rated alternatives": [
        Choice("path and alternatives, step labels alone", labels="alternatives"),
        Choice("path alone", labels="plain"),
        Choice("pairwise 1", {"pairwise_weight": 1.0}, "alternatives"),
    ],
    "Steps or final answers": [
        Choice("process alone"),
        Choice("outcome alone", {"process_weight": 0.0, "outcome_weight": 1.0}),
        Choice("hybrid, outcome 1", {"outcome_weight": 1.0}),
    ],
}


class Row(msgspec.Struct):
    """One row. Differences are from the first choice of its group; `better` counts seeds with a higher F1."""

    group: str
    choice: str
    labelled: int
    f1: Metric
    f1_gain: Metric | None
    better: int | None
    auroc: Metric
    auroc_gain: Metric | None
    ece: Metric
    answer_auroc: Metric


class Spread(msgspec.Struct):
    """Disagreement of heads that never saw a domain: mean step-BALD in nats on domains seen and not seen, its
    AUROC at telling the two apart, and the error AUROC of the scores on the domain not seen; by seed."""

    anchor: float
    seen: list[float]
    unseen: list[float]
    telling: list[float]
    unseen_auroc: list[float]


def main() -> None:
    """Train all choices at all sizes and seeds, print Markdown tables, and write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--only", default="", help="groups whose name holds this text")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--bootstrap", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.sizes, options.seeds, options.bootstrap)
        rows = []
        for group, choices in GROUPS.items():
            if options.only in group:
                rows += bench.group(group, choices)
                print(f"\n### {group}\n\n{_table([row for row in rows if row.group == group])}", flush=True)
        spreads = [bench.spread(anchor) for anchor in (0.0, *ANCHORS)] if options.only in SPREAD else []
        if spreads:
            print(f"\n### {SPREAD}\n\n{_spread_table(spreads)}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "world_version": WORLD_VERSION,
        "seeds": options.seeds,
        "seconds": round(time.monotonic() - started, 1),
        "config": TrainConfig(**PLAIN),
        "rows": rows,
        "spreads": spreads,
    }
    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2))


class Bench:
    """The data, the features of the holdout, and the results of each run, so that no choice is trained twice."""

    def __init__(self, folder: Path, sizes: Sequence[int], seeds: int, bootstrap: int) -> None:
        self.folder, self.sizes, self.seeds = folder, sizes, range(seeds)
        self.cache = Cache(folder / "cache")
        world = WorldConfig()
        self.calibration = list(generate(world, split="calibration", n=CALIBRATION))
        self.holdout = list(generate(world, split="holdout", n=HOLDOUT, seed=HOLDOUT_SEED))
        self.pools = {seed: _with_alternatives(world, max(sizes), seed) for seed in self.seeds}
        backbone = load_backbone("tiny")
        encoded = encode(self.holdout, backbone.tokenizer, backbone.layout, backbone.context)
        self.offsets = row_offsets(encoded)
        self.features = compute_features(backbone, encoded, TrainConfig().token_budget, FEATURES)
        sizes = {feature: feature_width(backbone.width, (feature,)) for feature in FEATURES}
        self.blocks = dict(zip(FEATURES, self.features.split(list(sizes.values()), dim=1), strict=True))
        self.draws = draws_of(len({trace.problem_id for trace in self.holdout}), bootstrap, seed=0)
        self.measured: dict[bytes, dict[str, Samples]] = {}

    def group(self, group: str, choices: Sequence[Choice]) -> list[Row]:
        """The rows of a group; the others are compared with the first choice."""
        rows = []
        for size in self.sizes:
            runs = {choice.name: [self._measure(choice, size, seed) for seed in self.seeds] for choice in choices}
            base = runs[choices[0].name]
            for name, own in runs.items():
                gains = None if own is base else {k: _mean(own, k) - _mean(base, k) for k in ("f1", "auroc")}
                rows.append(
                    Row(
                        group,
                        name,
                        size,
                        f1=as_metric(_mean(own, "f1")),
                        f1_gain=gains and as_metric(gains["f1"]),
                        better=gains and sum(bool(a["f1"][0] > b["f1"][0]) for a, b in zip(own, base, strict=True)),
                        auroc=as_metric(_mean(own, "auroc")),
                        auroc_gain=gains and as_metric(gains["auroc"]),
                        ece=as_metric(_mean(own, "ece")),
                        answer_auroc=as_metric(_mean(own, "answer_auroc")),
                    )
                )
        return rows

    def spread(self, anchor: float) -> Spread:
        """Measure heads that were trained on the largest pool without one domain, on that domain and on the others."""
        found = Spread(anchor, [], [], [], [])
        for seed in self.seeds:
            pool = [trace for trace in self._labelled("plain", seed) if trace.domain != UNSEEN]
            calibration = [trace for trace in self.calibration if trace.domain != UNSEEN]
            scorer = self._train([*pool, *calibration], TrainConfig(**PLAIN | {"seed": seed, "anchor": anchor}))
            scores = self._score(scorer)
            new = [trace.domain == UNSEEN for trace in self.holdout]
            gains = [_disagreement(np.array(score.heads)) for score in scores]
            unseen = np.concatenate([gain for gain, is_new in zip(gains, new, strict=True) if is_new])
            seen = np.concatenate([gain for gain, is_new in zip(gains, new, strict=True) if not is_new])
            both = np.concatenate([unseen, seen])
            is_unseen = np.concatenate([np.ones(len(unseen)), np.zeros(len(seen))])
            outside = [(t, s) for t, s, is_new in zip(self.holdout, scores, new, strict=True) if is_new]
            _, steps = columns_of([t for t, _ in outside], [s for _, s in outside], scorer.threshold)
            found.seen.append(float(seen.mean()))
            found.unseen.append(float(unseen.mean()))
            found.telling.append(float(ranking(both, is_unseen, np.ones(len(both)))[0]))
            found.unseen_auroc.append(float(ranking(1 - steps.p, steps.error, np.ones(len(steps.p)))[0]))
        return found

    def _measure(self, choice: Choice, size: int, seed: int) -> dict[str, Samples]:
        key = msgspec.json.encode([choice.changes, choice.labels, size, seed])
        if key not in self.measured:
            config = TrainConfig(**PLAIN | {"seed": seed} | choice.changes)
            scorer = self._train([*self._labelled(choice.labels, seed)[:size], *self.calibration], config)
            self.measured[key] = self._figures(self._score(scorer), scorer.threshold)
        return self.measured[key]

    def _labelled(self, labels: str, seed: int) -> list[Trace]:
        pool = self.pools[seed]
        if labels == "alternatives":
            return pool
        pool = [msgspec.structs.replace(trace, alternatives=[]) for trace in pool]
        return _flipped(pool, Random(f"flips {seed}")) if labels == "flipped" else pool

    def _train(self, traces: Iterable[Trace], config: TrainConfig) -> Scorer:
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            data, out = Path(place) / "data.jsonl", Path(place) / "model"
            write_traces(data, traces)
            train(data=data, out=out, config=config, report=lambda progress: None, cache=self.cache)
            return Scorer.load(out)

    def _score(self, scorer: Scorer) -> list[TraceScore]:
        """Scores of the holdout, from features computed once."""
        rows = torch.cat([block for feature, block in self.blocks.items() if feature in scorer.features], dim=1)
        p, scores = scorer.judges.step(rows), []
        outcome = None if scorer.judges.outcome is None else scorer.judges.outcome(rows).mean(axis=0)
        for index, trace in enumerate(self.holdout):
            start, end = self.offsets[index], self.offsets[index + 1]
            assert end - start == len(trace.steps), "every holdout solution fits the context"
            mean = p[:, start:end].mean(axis=0)
            answer = float(np.prod(mean)) if outcome is None else float(outcome[end - 1])
            heads = p[:, start:end].T.tolist()
            scores.append(TraceScore(trace.id, heads, mean.tolist(), [None] * len(heads), answer))
        return scores

    def _figures(self, scores: list[TraceScore], threshold: Threshold) -> dict[str, Samples]:
        """Each figure for every draw of problems, [1 + bootstrap]; `solution` ranks final answers."""
        solutions, steps = columns_of(self.holdout, scores, threshold)
        at_steps = self.draws[:, solutions.problem[steps.solution]]
        right = np.array([bool(trace.final_answer_correct) for trace in self.holdout], dtype=float)
        answers = np.array([score.solution for score in scores], dtype=float)
        return {
            "f1": processbench(solutions, self.draws)["processbench_f1"],
            "auroc": ranking(1 - steps.p, steps.error, at_steps)[0],
            "ece": expected_calibration_error(steps.p, 1 - steps.error, at_steps),
            "answer_auroc": ranking(answers, right, self.draws[:, solutions.problem])[0],
        }


def _with_alternatives(world: WorldConfig, size: int, seed: int) -> list[Trace]:
    """The pool with alternatives: labelled steps of other solutions of the same problem after the same steps."""
    pool = list(generate(world, split="pool", n=size, seed=seed))
    donors: dict[str, list[Trace]] = defaultdict(list)
    problems = len({trace.problem_id for trace in pool})
    for donor in generate_pools(world, split="pool", problems=problems, samples=DONORS, seed=seed):
        donors[donor.problem_id].append(donor)
    return [msgspec.structs.replace(trace, alternatives=_beside(trace, donors[trace.problem_id])) for trace in pool]


def _beside(trace: Trace, donors: Sequence[Trace]) -> list[Alternative]:
    found = []
    for position, label in enumerate(trace.labels or []):
        taken = {trace.steps[position].text}
        for donor in donors if label is not None else ():
            if len(taken) <= BESIDE and len(donor.steps) > position and donor.labels is not None:
                step, own = donor.steps[position], donor.labels[position]
                if own is not None and step.text not in taken and donor.steps[:position] == trace.steps[:position]:
                    taken.add(step.text)
                    found.append(Alternative(position, step, own))
    return found


def _flipped(pool: Sequence[Trace], rng: Random) -> list[Trace]:
    """The pool with each rated step's label flipped independently with probability FLIPPED."""

    def turned(label: StepLabel | None) -> StepLabel | None:
        if label is None or rng.random() >= FLIPPED:
            return label
        return GOOD if label.rating == -1 else BAD

    return [
        msgspec.structs.replace(trace, labels=[turned(label) for label in trace.labels or []], first_error=None)
        for trace in pool
    ]


def _disagreement(p: Samples) -> Samples:
    """Mutual information of each step's verdict and the head in nats, from `p` [steps, heads] to [steps]."""

    def entropy(q: Samples) -> Samples:
        q = np.clip(q, 1e-12, 1 - 1e-12)
        return -(q * np.log(q) + (1 - q) * np.log(1 - q))

    found: Samples = entropy(p.mean(axis=1)) - entropy(p).mean(axis=1)
    return found


def _mean(runs: Sequence[dict[str, Samples]], figure: str) -> Samples:
    mean: Samples = np.mean([run[figure] for run in runs], axis=0)
    return mean


def _table(rows: Sequence[Row]) -> str:
    columns = (
        "",
        "labelled",
        "ProcessBench F1",
        "difference",
        "seeds better",
        "step AUROC",
        "difference",
        "ECE",
        "answer AUROC",
    )
    cells = [
        (
            row.choice,
            str(row.labelled),
            format_metric(row.f1),
            _signed(row.f1_gain),
            "" if row.better is None else str(row.better),
            format_metric(row.auroc),
            _signed(row.auroc_gain),
            format_metric(row.ece),
            format_metric(row.answer_auroc),
        )
        for row in rows
    ]
    return markdown_table(columns, cells)


def _signed(metric: Metric | None) -> str:
    return "" if metric is None else format_metric(metric, signed=True)


def _spread_table(spreads: Sequence[Spread]) -> str:
    columns = (
        "anchor",
        "step-BALD, domains seen",
        "domain not seen",
        "AUROC of telling them apart",
        "error AUROC, not seen",
    )
    cells = [
        (f"{s.anchor:g}", *(_by_seed(values) for values in (s.seen, s.unseen, s.telling, s.unseen_auroc)))
        for s in spreads
    ]
    return markdown_table(columns, cells)


def _by_seed(values: Sequence[float]) -> str:
    return f"{np.mean(values):.4f} ({', '.join(f'{value:.4f}' for value in values)})"


if __name__ == "__main__":
    main()
