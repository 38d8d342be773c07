"""Compares spaces in which to look for the nearest labelled steps of a step, to explain its score.

    python -m research.neighbour_places --model DIR --training FILE

For each candidate space: how the mean label of the ten nearest training steps agrees with the score of holdout steps of
the sandbox (correlation, mean distance), and how often both are on the same side of the model's threshold.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import gelu

from prm.formats.trace_files import read_traces
from prm.heads import Heads
from prm.labels import step_labels
from prm.probes.neighbours import agreement, ensemble_of, places_of, step_features_of
from prm.processes import use_half_the_cores
from prm.sandbox import WorldConfig, generate
from prm.scoring import Scorer
from prm.traces import Trace

NEAREST = 10
SOLUTIONS, SEED = 500, 7


def first_layer(heads: Heads, rows: Tensor) -> Tensor:
    rows = heads.standard(rows).expand(len(heads.enter), -1, -1)
    return torch.baddbmm(heads.enter_bias, rows, heads.enter).transpose(0, 1).flatten(1)


def labelled_rows(scorer: Scorer, traces: list[Trace]) -> tuple[Tensor, Tensor]:
    """Features of the labelled steps, and 1 for each step that is not an error."""
    rows, good = [], []
    for trace, found in zip(traces, step_features_of(scorer, traces), strict=True):
        for label, row in zip(step_labels(trace), found, strict=False):
            if label is not None:
                rows.append(row)
                good.append(label.good + label.neutral)
    return torch.stack(rows), torch.tensor(good)


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--training", type=Path, required=True)
    options = parser.parse_args()
    use_half_the_cores()
    scorer = Scorer.load(options.model, device="cpu")
    heads = ensemble_of(scorer)
    rows, good = labelled_rows(scorer, [t for t in read_traces(options.training) if t.split == "pool"])
    asked, _ = labelled_rows(scorer, list(generate(WorldConfig(), split="holdout", n=SOLUTIONS, seed=SEED)))
    scores, bar = torch.tensor(scorer.judges.step(asked).mean(axis=0)), scorer.threshold.value
    places: dict[str, Callable[[Tensor], Tensor]] = {
        "standardised features": heads.standard,
        "first layer of the heads": lambda rows: first_layer(heads, rows),
        "hidden units": lambda rows: gelu(first_layer(heads, rows)),
        "hidden units by their pull, 64 random axes": lambda rows: places_of(scorer, rows),
        "the heads' logits": lambda rows: heads(rows).T.flatten(1),
    }
    print("| place | numbers | correlation | mean distance | same side |\n|---|---|---|---|---|")
    for name, place in places.items():
        ours, theirs = place(asked), place(rows)
        near = good[torch.cdist(ours, theirs).topk(NEAREST, largest=False).indices].mean(1)
        same = ((near >= bar) == (scores >= bar)).double().mean()
        apart = (near - scores).abs().mean()
        print(f"| {name} | {ours.shape[1]} | {agreement(near, scores):.3f} | {apart:.3f} | {same:.3f} |")
    print(f"\n{len(asked)} holdout steps among {len(rows)} labelled ones")


if __name__ == "__main__":
    main()
