"""Models that were trained elsewhere: one small head on the state of the token that ends a step.

TRL's PRM trainer leaves a token classifier with a linear head; Qwen2.5-Math-PRM reads the same state with two linear
layers and a ReLU between (Zhang et al. 2025, section 3). Neither has an ensemble, so no score has a spread.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from prm.encoding import Layout
from prm.errors import ModelFileError
from prm.manifest import Outside
from prm.messages import Message
from prm.scoring.verdicts import Judges, Probabilities


def outside_layout(outside: Outside) -> Layout:
    """What the model was trained to see around problems and steps."""
    return Layout(outside.start, outside.problem_end, outside.step_end)


def outside_judges(outside: Outside, tensors: dict[str, Tensor], device: torch.device, model_dir: Path) -> Judges:
    """Judge by softmax over the head's classes; raises ModelFileError where the tensors are not the head's."""
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
