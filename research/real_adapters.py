"""python -m research.real_adapters: what adapters in the backbone add to heads on it, on real labels.

    python -m research.real_adapters --data processbench/gsm8k.json processbench/math.json --base backbones/smollm2 \
      --out DIR [--learn-from math]

One third of each set's source groups is measured on, and the rest is learned from. Heads on the frozen backbone, and
low-rank adapters in it (LoRA), learn from the same solutions. Finished models in DIR are used again. With
`--learn-from`, several processes can share the work.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from prm.cards import markdown_table
from prm.commands.common import say
from prm.config import Progress, TrainConfig
from prm.evaluation.metrics import format_metric
from prm.processes import use_half_the_cores
from prm.reproducing.judging import SIMPLE, Scores
from prm.reproducing.measuring import measure_judges
from prm.reproducing.sets import Array, LabelledSet, Places, read_sets
from prm.reproducing.thresholds import CARRIED, GRADES, share_flagged
from prm.scoring import Scorer
from prm.traces import write_traces
from prm.training import train
from prm.training.caches import Cache

FOLDS, CALIBRATION_FOLDS = 3, 5  # one of each is measured on, and calibrates
HEADS, LORA = "heads", "LoRA"
HEAD = ("learned from", "measured on", "judge", "step AUROC", "over the best simple score", "over heads")
RULES = (CARRIED, GRADES)
RESAMPLES = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--base", required=True, help="a backbone, or its folder")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--learn-from", nargs="+", metavar="SET", help="default: every set")
    parser.add_argument("--learned", type=int, default=200, help="solutions that each model learns from")
    parser.add_argument("--measured", type=int, default=200, help="solutions of each set to measure on, at most")
    parser.add_argument("--epochs", type=int, default=4, help="epochs of the adapters")
    parser.add_argument("--batch-tokens", type=int, default=1024, help="tokens in a batch of the adapters")
    parser.add_argument("--seed", type=int, default=2900, help="seed of splits and models")
    options = parser.parse_args()
    use_half_the_cores()
    heads = TrainConfig(base=options.base, seed=options.seed)
    adapters = msgspec.structs.replace(heads, lane="lora", epochs=options.epochs, batch_tokens=options.batch_tokens)
    sets = read_sets(options.data, None, options.seed)
    folds = [one.folds(FOLDS, options.seed) for one in sets]
    measured = [part(one, first[: options.measured]) for one, (first, *_) in zip(sets, folds, strict=True)]
    rows = []
    for one, (_, *others) in zip(sets, folds, strict=True):
        if one.name in (options.learn_from or [one.name]):
            learned = part(one, np.sort(np.concatenate(others)[: options.learned]))
            scores = {
                lane: judged(options.out / one.name / lane, learned, measured, config, Cache(options.out / "cache"))
                for lane, config in ((HEADS, heads), (LORA, adapters))
            }
            for place, target in enumerate(measured):
                by_lane = {lane: [of_lane[place]] for lane, of_lane in scores.items()}
                rows += compared(learned, target, by_lane, options.seed)
    say(markdown_table((*HEAD, *(f"F1, {rule}" for rule in RULES)), rows))


def part(labelled: LabelledSet, places: Places) -> LabelledSet:
    """The set of the solutions at `places`."""
    rows = places.tolist()
    traces, groups = [labelled.traces[row] for row in rows], [labelled.groups[row] for row in rows]
    return LabelledSet(labelled.name, traces, labelled.errors[places], groups)


def judged(
    folder: Path, learned: LabelledSet, measured: Sequence[LabelledSet], config: TrainConfig, cache: Cache
) -> list[Scores]:
    """Train a model in `folder`, and score each set with it."""
    (held, *_) = learned.folds(CALIBRATION_FOLDS, config.seed + 1)
    taught = [
        msgspec.structs.replace(trace, split="calibration" if place in held else "pool")
        for place, trace in enumerate(learned.traces)
    ]
    write_traces(folder / "learned.jsonl", taught)
    train(data=folder / "learned.jsonl", out=folder / "model", config=config, report=report, cache=cache)
    scorer = Scorer.load(folder / "model")
    calibration = part(learned, held)
    share = share_flagged(steps_of(scorer, calibration), calibration.thresholds(scorer.threshold))
    return [Scores(steps_of(scorer, target), target.thresholds(scorer.threshold), share) for target in measured]


def report(progress: Progress) -> None:
    """Print each tenth step of a training run."""
    if progress.step % 10 == 0:
        loss = "" if progress.loss is None else f", loss {progress.loss:.3f}"
        say(f"{progress.seconds:.0f} s: {progress.stage} {progress.step} of {progress.of}{loss}")


def steps_of(scorer: Scorer, target: LabelledSet) -> Array:
    """The scores of a set's steps, [solutions, steps]."""
    say(f"scoring {len(target.traces)} solutions of {target.name}")
    steps = [np.nan if p is None else p for score in scorer.score(target.traces) for p in score.mean]
    return target.in_rows(steps, target.steps)


def compared(
    learned: LabelledSet, target: LabelledSet, by_lane: dict[str, list[Scores]], seed: int
) -> Iterator[tuple[str, ...]]:
    """A row for each score without a model and each lane; LoRA's has its paired gain over heads."""
    simple = {name: [judge(learned, target, seed)] for name, judge in SIMPLE.items()}
    paired = {line.judge: line for line in measure_judges(learned, target, by_lane, (HEADS,), RESAMPLES)}
    for line in measure_judges(learned, target, simple | by_lane, tuple(simple), RESAMPLES):
        over_heads = format_metric(paired[LORA].over_simple, signed=True) if line.judge == LORA else ""
        yield (
            line.source,
            line.target,
            line.judge,
            format_metric(line.auroc),
            format_metric(line.over_simple, signed=True),
            over_heads,
            *(format_metric(line.f1[rule]) for rule in RULES),
        )


if __name__ == "__main__":
    main()
