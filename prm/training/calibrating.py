"""Fits temperature and threshold on the held-out part after training."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from prm.calibration import fit_temperature, fit_threshold, mean_probability
from prm.encoding import Encoded
from prm.features import row_offsets
from prm.labels import first_error
from prm.traces import Trace
from prm.training.supervision import Supervision


def calibrate(
    held: Sequence[Trace], encoded: Sequence[Encoded], known: Supervision, logits: Tensor
) -> tuple[float, float]:
    """Temperature and threshold; 1 and 0.5 without held-out data. Solutions beyond the context are left out."""
    if not len(known.good):
        return 1.0, 0.5
    values = logits.double().numpy()
    temperature = fit_temperature(values, known.good.double().numpy(), known.weight.double().numpy())
    p = mean_probability(values, temperature)
    offsets = row_offsets(encoded)
    scores: list[np.ndarray] = []
    errors: list[int] = []
    for index, (trace, item) in enumerate(zip(held, encoded, strict=True)):
        error = first_error(trace)
        if error is not None and len(item.spans) == item.n_steps:
            scores.append(p[offsets[index] : offsets[index + 1]])
            errors.append(error)
    return temperature, fit_threshold(scores, errors)


def outcome_temperature(known: Supervision, logits: Tensor) -> float:
    """The temperature of p(final answer right), fitted at the held solutions' last steps; 1 where none is known."""
    return fit_temperature(logits.double().numpy(), known.right.double().numpy(), known.ends.double().numpy())
