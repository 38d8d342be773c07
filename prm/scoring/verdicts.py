"""Converts step features to scores, by a trained model's ensembles or by surprisal alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from prm.checkpoint import BACKBONE
from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.features import STATISTICS, heads_width
from prm.heads import Readout
from prm.manifest import Manifest, Outside
from prm.messages import Message
from prm.scores import StepScore

ZERO_LABEL_STATISTIC = STATISTICS.index("surprisal_max")
Probabilities = NDArray[np.float64]
Judge = Callable[[Tensor], Probabilities]  # step features [steps, width] to [heads, steps]


@dataclass(frozen=True)
class Judges:
    """`step` computes p(the step is not an error | good prefix); `outcome`, if the model learned it, p(the final answer
    will be right | the steps so far)."""

    step: Judge
    outcome: Judge | None = None

    def step_scores(self, rows: Tensor, windowed: Sequence[bool]) -> list[StepScore]:
        """One score for each row of features [steps, width]; `windowed` marks steps that were read in a window."""
        p = self.step(rows)
        mean = p.mean(axis=0).tolist()
        spread = p.std(axis=0).tolist() if len(p) > 1 else [None] * len(mean)
        outcome = self.outcome(rows).mean(axis=0).tolist() if self.outcome else [None] * len(mean)
        return [StepScore(*each) for each in zip(p.T.tolist(), mean, spread, outcome, windowed, strict=True)]


def trained_judges(readout: Readout, manifest: Manifest) -> Judges:
    """Judge by a trained model, on the device of its readout."""

    def probabilities(logits: Tensor, temperature: float) -> Probabilities:
        return torch.sigmoid(logits.double() / temperature).cpu().numpy()

    def on_device(rows: Tensor) -> Tensor:
        return rows.to(next(readout.parameters()).device)

    @torch.no_grad()
    def step(rows: Tensor) -> Probabilities:
        return probabilities(readout.step_logits(on_device(rows)), manifest.temperature)

    @torch.no_grad()
    def outcome(rows: Tensor) -> Probabilities:
        return probabilities(readout.outcome_logits(on_device(rows)), manifest.outcome_temperature)

    return Judges(step, outcome if readout.outcome is not None else None)


def judge_by_surprise(rows: Tensor) -> Probabilities:
    """The backbone's probability of the step's least likely token, from its "statistics"; it needs no labels."""
    return np.exp(-rows.cpu().double().numpy()[None, :, ZERO_LABEL_STATISTIC])


def load_readout(config: TrainConfig, columns: int, tensors: dict[str, Tensor], model_dir: Path) -> Readout:
    """The readout of a model's `tensors` for features of so many columns, in evaluation mode.

    Raises ModelFileError if they do not fit.
    """
    readout = Readout(config, heads_width(columns, config.features))
    try:
        readout.load_state_dict({n: t for n, t in tensors.items() if not n.startswith(BACKBONE)})
    except RuntimeError as error:
        raise ModelFileError(Message("weights_differ", model_dir=model_dir, error=error)) from error
    return readout.eval()


def outside_judges(outside: Outside, tensors: dict[str, Tensor], device: torch.device, model_dir: Path) -> Judges:
    """Judge by softmax over the classes of one small head, on the state of the token that ends a step.

    TRL's PRM trainer produces a token classifier with a linear head; Qwen2.5-Math-PRM uses the same state with two
    linear layers and a ReLU between (Zhang et al. 2025, section 3). Math-Shepherd and RLHFlow compare the logits of "+"
    and "-" there, which is a linear head too. None has an ensemble, so scores have no spread.
    Raises ModelFileError if the tensors are not the head's.
    """
    try:
        layers = [
            (tensors[f"{number}.weight"].float().to(device), tensors[f"{number}.bias"].float().to(device))
            for number in range(outside.layers)
        ]
    except KeyError as error:
        raise ModelFileError(Message("outside_weights_differ", model_dir=model_dir, error=error)) from error

    @torch.no_grad()
    def step(rows: Tensor) -> Probabilities:
        x = rows.to(device)
        for number, (weight, bias) in enumerate(layers):
            x = nn.functional.linear(nn.functional.relu(x) if number else x, weight, bias)
        p = x.double().softmax(1)[:, outside.good].cpu().numpy()
        return np.asarray(p)[None]

    return Judges(step)
