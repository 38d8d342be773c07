"""Why a step has its score: the labelled steps nearest to it, what moved the score, and which heads disagree."""

from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec
import torch
from torch import Tensor

from prm.config import FEATURES
from prm.features import STATISTICS
from prm.probes.neighbours import CHUNK, Neighbour, Neighbours, ensemble_of, places_of, step_features_of
from prm.scoring import Scorer
from prm.traces import Step, Trace

POINTS = 32  # of the path integral


class StepView(msgspec.Struct, frozen=True):
    """One step's score explained.

    `heads` are p(good) of each head and `spread` their standard deviation. `moved_by` says how far each part of
    what the heads see moved the score from that of an average training step, in logits of the heads' mean logit:
    below 0 towards an error; the parts sum to the whole way. `near_good` is the share of neighbours without error.
    """

    position: int
    step: Step
    score: float
    spread: float
    heads: list[float]
    moved_by: dict[str, float]
    near_good: float
    neighbours: list[Neighbour]


class Explanation(msgspec.Struct, frozen=True):
    """One solution's steps; those beyond the context are missing."""

    id: str
    problem: str
    steps: list[StepView]


def explain(scorer: Scorer, neighbours: Neighbours, traces: Iterable[Trace], *, k: int = 5) -> Iterator[Explanation]:
    """Explain every step of every trace, in order, a few hundred traces at a time."""
    source = iter(traces)
    while chunk := list(islice(source, CHUNK)):
        features = step_features_of(scorer, chunk)
        rows = torch.cat(features)
        p = scorer.judges.step(rows)
        moved = moved_by(scorer, rows)
        distances, indices = neighbours.nearest(places_of(scorer, rows), k)
        shares = neighbours.good_shares(indices)
        near = neighbours.describe(distances, indices)
        row = 0
        for trace, found in zip(chunk, features, strict=True):
            views = []
            for position in range(len(found)):
                views.append(
                    StepView(
                        position=position,
                        step=trace.steps[position],
                        score=float(p[:, row].mean()),
                        spread=float(p[:, row].std()),
                        heads=p[:, row].tolist(),
                        moved_by={name: float(values[row]) for name, values in moved.items()},
                        near_good=float(shares[row]),
                        neighbours=near[row],
                    )
                )
                row += 1
            yield Explanation(trace.id, trace.problem, views)


def moved_by(scorer: Scorer, rows: Tensor) -> dict[str, Tensor]:
    """Integrated gradients (Sundararajan et al. 2017, equation 1) of the heads' mean logit from the average training
    step to each of `rows` [steps, width]: one value a step for each layer's states and for each statistic.
    """
    heads, readout = ensemble_of(scorer), scorer.readout
    assert readout is not None, "a scorer with heads has a readout"
    rows = rows.to(heads.centre.device)
    way = rows - heads.centre
    total = torch.zeros_like(rows)
    for point in range(POINTS):
        at = (heads.centre + (point + 0.5) / POINTS * way).requires_grad_()
        (gradient,) = torch.autograd.grad(readout.step_logits(at).mean(0).sum(), at)
        total += gradient
    parts = (way * total / POINTS).cpu()
    width = scorer.backbone.width
    found: dict[str, Tensor] = {}
    start = 0
    for feature in FEATURES:
        if feature == "statistics" and feature in scorer.features:
            found |= {name: parts[:, start + k] for k, name in enumerate(STATISTICS)}
        elif feature in scorer.features:
            found[f"{feature} states"] = parts[:, start : start + width].sum(1)
            start += width
    return found
