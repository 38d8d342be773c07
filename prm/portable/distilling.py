"""Distils an ensemble into one small head on the state of the token that ends a step, which other tools can load.

The ensemble cannot be folded into such a head: it averages the probabilities of several MLPs, and reads means over
tokens and statistics of the backbone's predictions. The head learns the ensemble's scores, and its difference from them
is measured on source groups that it did not learn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from prm.errors import DataError
from prm.evaluation.metrics import ranking
from prm.labels import source_groups, step_labels, step_target
from prm.messages import Message
from prm.threshold import Threshold
from prm.traces import Trace

LEAST_GROUPS = 10
PARTS = (0.6, 0.2)  # of the groups: to learn from, and to stop by; the others measure
BATCH, EPOCHS, PATIENCE = 64, 200, 15
RATE, DECAY = 3e-3, 0.1

Layers = list[tuple[Tensor, Tensor]]  # weight and bias of each linear layer


class Distillation(msgspec.Struct, frozen=True):
    """How near a distilled head comes to its model, on `steps` of `solutions` that it did not learn from.

    `difference` is the mean absolute difference of their probabilities, `divergence` the mean Kullback-Leibler
    divergence in nats, and `agreement` the share of steps on one side of the threshold. The AUROC of wrong steps is
    None without labels of both kinds.
    """

    learned_from: int
    solutions: int
    steps: int
    difference: float
    divergence: float
    agreement: float
    model_auroc: float | None
    head_auroc: float | None


@dataclass(frozen=True)
class Lesson:
    """What a head learns from: its states [steps, width], the model's scores [steps], and each step's solution."""

    traces: Sequence[Trace]
    states: Tensor
    scores: Tensor
    owner: Sequence[int]
    wrong: Sequence[float]  # by label: 1, 0, or nan if unknown


def lesson_of(
    traces: Sequence[Trace], states: Tensor, scores: Sequence[Sequence[float]], *, labelled: bool = True
) -> Lesson:
    """The lesson of solutions and their scored steps; `states` has a row for each score.

    Steps after the first error count as unlabelled, and so do all of them unless `labelled`.
    """
    owner = [index for index, own in enumerate(scores) for _ in own]
    wrong: list[float] = []
    for trace, own in zip(traces, scores, strict=True):
        ended = not labelled
        for label in step_labels(trace)[: len(own)]:
            target = step_target(label, "positive")
            wrong.append(float("nan") if ended or not target.weight else float(target.good < 0.5))
            ended = ended or wrong[-1] == 1
    return Lesson(traces, states, torch.tensor([p for own in scores for p in own]), owner, wrong)


def distil(lesson: Lesson, *, hidden: bool, threshold: Threshold, seed: int = 0) -> tuple[Layers, Distillation]:
    """One linear layer to two classes (wrong, right), or with `hidden` two with a ReLU between, and its measured loss.

    Raises DataError for fewer than LEAST_GROUPS source groups.
    """
    fit, stop, measured = _divide(lesson, seed)
    layers = _fit(lesson.states, lesson.scores, fit, stop, hidden=hidden, seed=seed)
    return layers, _measure(lesson, layers, measured, threshold, learned_from=len({lesson.owner[row] for row in fit}))


def probabilities(layers: Layers, states: Tensor) -> Tensor:
    """p(right) of each state, [rows]."""
    return _logits(layers, states).double().softmax(1)[:, 1]


def _logits(layers: Layers, states: Tensor) -> Tensor:
    for number, (weight, bias) in enumerate(layers):
        states = nn.functional.linear(states.relu() if number else states, weight, bias)
    return states


def _divide(lesson: Lesson, seed: int) -> tuple[list[int], list[int], list[int]]:
    """The rows to learn from, to stop by and to measure on; they share no source group."""
    group_of_each = source_groups(lesson.traces)
    groups = sorted({group_of_each[owner] for owner in lesson.owner})
    if len(groups) < LEAST_GROUPS:
        raise DataError(Message("too_few_to_distil", n=len(groups), least=LEAST_GROUPS))
    Random(seed).shuffle(groups)
    bounds = [round(PARTS[0] * len(groups)), round(sum(PARTS) * len(groups))]
    part = {group: sum(place >= bound for bound in bounds) for place, group in enumerate(groups)}
    rows: tuple[list[int], list[int], list[int]] = [], [], []
    for row, owner in enumerate(lesson.owner):
        rows[part[group_of_each[owner]]].append(row)
    return rows


def _fit(
    states: Tensor, scores: Tensor, fit: list[int], stop: list[int], *, hidden: bool, seed: int
) -> list[tuple[Tensor, Tensor]]:
    """The layers with the lowest cross-entropy on `stop`; the standardisation of their input is folded into the first.

    A fold is exact, since it is linear.
    """
    generator = torch.Generator().manual_seed(seed)
    width = states.shape[1]
    centre, spread = states[fit].mean(0), states[fit].std(0, correction=0)
    scale = torch.maximum(spread, 1e-2 * states[fit].abs().mean(0)).clamp(min=1e-4)
    rows = (states - centre) / scale
    target = torch.stack([1 - scores, scores], dim=1).float()
    sizes = [width, width, 2] if hidden else [width, 2]
    layers = []
    for into, out in pairwise(sizes):
        weight = torch.randn(out, into, generator=generator) * into**-0.5
        layers.append((weight.requires_grad_(), torch.zeros(out, requires_grad=True)))
    optimiser = torch.optim.AdamW([tensor for layer in layers for tensor in layer], lr=RATE, weight_decay=DECAY)
    best, lowest, since = [(w.detach().clone(), b.detach().clone()) for w, b in layers], float("inf"), 0
    for _ in range(EPOCHS):
        for batch in torch.tensor(fit)[torch.randperm(len(fit), generator=generator)].split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(_logits(layers, rows[batch]), target[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            loss = float(nn.functional.cross_entropy(_logits(layers, rows[stop]), target[stop]))
        since += 1
        if loss < lowest:
            best, lowest, since = [(w.detach().clone(), b.detach().clone()) for w, b in layers], loss, 0
        if since >= PATIENCE:
            break
    weight, bias = best[0]
    best[0] = (weight / scale, bias - weight @ (centre / scale))
    return best


def _measure(
    lesson: Lesson, layers: Layers, rows: list[int], threshold: Threshold, *, learned_from: int
) -> Distillation:
    p = lesson.scores[rows].double().clamp(1e-9, 1 - 1e-9)
    q = probabilities(layers, lesson.states[rows]).clamp(1e-9, 1 - 1e-9)
    divergence = p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()
    wrong = np.array(lesson.wrong)[rows]
    bars = p.new_tensor([threshold.at(len(lesson.traces[lesson.owner[row]].steps)) for row in rows])
    known = ~np.isnan(wrong)
    return Distillation(
        learned_from=learned_from,
        solutions=len({lesson.owner[row] for row in rows}),
        steps=len(rows),
        difference=float((p - q).abs().mean()),
        divergence=float(divergence.mean()),
        agreement=float(((p < bars) == (q < bars)).double().mean()),
        model_auroc=_auroc(1 - p.numpy()[known], wrong[known]),
        head_auroc=_auroc(1 - q.numpy()[known], wrong[known]),
    )


def _auroc(scores: NDArray[np.float64], wrong: NDArray[np.float64]) -> float | None:
    value = float(ranking(scores, wrong, np.ones((1, len(wrong))))[0][0])
    return None if np.isnan(value) else value
