"""python -m benchmarks.serving.trust: the value of abstention and the out-of-domain flag on the sandbox's holdout."""

import argparse
import tempfile
from pathlib import Path

from prm.config import TrainConfig
from prm.labels import first_error
from prm.sandbox.world import WorldConfig, generate
from prm.scoring import Scorer
from prm.traces import write_traces
from prm.training import train
from prm.trust import is_foreign, verdict
from prm.vocabulary import Split

POOL, CALIBRATION, HOLDOUT = 300, 150, 400
Row = tuple[str, float, bool, bool]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving.trust", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", default="", help="a domain to leave out of the training: agents, math or programs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scorer = _trained(Path(folder), options.seed, options.without)
        rows = _rows(scorer, options.seed + 1)
    trust = scorer.manifest.trust if scorer.manifest else None
    assert trust is not None
    assert trust.abstention is not None, "the calibration split is large enough"
    print(trust.abstention)
    print("| domain | solutions | right, all | given | right of those given | out of domain |\n|---|" + "---:|" * 5)
    for domain in sorted({row[0] for row in rows}):
        _tell(domain, [row for row in rows if row[0] == domain], trust.abstention.bar)
    _tell("all but the one left out", [row for row in rows if row[0] != options.without], trust.abstention.bar)


def _trained(folder: Path, seed: int, without: str) -> Scorer:
    parts: tuple[tuple[Split, int], ...] = (("pool", POOL), ("calibration", CALIBRATION))
    traces = (trace for split, n in parts for trace in generate(WorldConfig(), split=split, n=n, seed=seed))
    write_traces(folder / "train.jsonl", (trace for trace in traces if trace.domain != without))
    out = folder / "model"
    train(data=folder / "train.jsonl", out=out, config=TrainConfig(seed=seed), report=lambda progress: None)
    return Scorer.load(out)


def _rows(scorer: Scorer, seed: int) -> list[Row]:
    """Domain, uncertainty (infinite without a verdict), whether the verdict is right and the text out of domain."""
    held = list(generate(WorldConfig(), split="holdout", n=HOLDOUT, seed=seed))
    rows = []
    for trace, score in zip(held, scorer.score(held), strict=True):
        found, doubt = verdict(score.heads, score.mean, scorer.threshold)
        far = bool(is_foreign(score.distance))
        rows.append((trace.domain, float("inf") if doubt is None else doubt, found == first_error(trace), far))
    return rows


def _tell(name: str, rows: list[Row], bar: float | None) -> None:
    given = [row for row in rows if bar is not None and row[1] <= bar and not row[3]]
    right = f"{sum(row[2] for row in given) / len(given):.1%}" if given else "-"
    of_all, far = (sum(row[at] for row in rows) / len(rows) for at in (2, 3))
    print(f"| {name} | {len(rows)} | {of_all:.1%} | {len(given) / len(rows):.1%} | {right} | {far:.1%} |")


if __name__ == "__main__":
    main()
