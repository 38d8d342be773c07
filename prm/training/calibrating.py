"""Fits temperature, threshold and trust limits on the held-out part after training."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prm.backbones import Backbone
from prm.calibration import fit_temperature, fit_threshold, mean_probability
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.features import compute_features, row_offsets
from prm.heads import Readout
from prm.labels import first_error
from prm.scoring.embedding import Embedder
from prm.threshold import UNFITTED, Threshold
from prm.traces import Trace
from prm.training.dataset import Document
from prm.training.lanes import CachedLane, TunedLane
from prm.training.supervision import Supervision
from prm.trust import AbstentionBar, DomainBar, fit_abstention, fit_domain, verdict


def calibrate(
    held: Sequence[Trace], encoded: Sequence[Encoded], known: Supervision, logits: Tensor
) -> tuple[float, Threshold]:
    """The temperature and the threshold, which leaves out solutions beyond the context; 1 and UNFITTED without data."""
    if not len(known.good):
        return 1.0, UNFITTED
    values = logits.double().numpy()
    temperature = fit_temperature(values, known.good.double().numpy(), known.weight.double().numpy())
    p = mean_probability(values, temperature)
    settled = _settled(held, encoded)
    return temperature, fit_threshold([p[rows] for rows, _ in settled], [error for _, error in settled])


def _settled(held: Sequence[Trace], encoded: Sequence[Encoded]) -> list[tuple[slice, int]]:
    """The rows and first errors of solutions with a known first error whose steps all fit the context."""
    offsets = row_offsets(encoded)
    return [
        (slice(offsets[index], offsets[index + 1]), error)
        for index, (trace, item) in enumerate(zip(held, encoded, strict=True))
        if (error := first_error(trace)) is not None and len(item.spans) == item.n_steps
    ]


def fit_outcome_temperature(known: Supervision, logits: Tensor) -> float:
    """The temperature of p(final answer right), fitted at the held solutions' last steps; 1 if no answer is known."""
    return fit_temperature(logits.double().numpy(), known.right.double().numpy(), known.ends.double().numpy())


MOST_READ = 500  # solutions encoded again for the domain limit if the backbone was tuned


def abstention_bar(
    held: Sequence[Trace],
    encoded: Sequence[Encoded],
    logits: Tensor,
    *,
    temperature: float,
    threshold: Threshold,
    target: float,
) -> AbstentionBar | None:
    """The abstention limit from verdicts on held solutions with a known first error whose steps all fit the context.

    `logits` [heads, steps] are of all held steps in order, before the temperature.
    """
    p = torch.sigmoid(logits.double() / temperature).T.tolist()
    uncertainty, right = [], []
    for rows, error in _settled(held, encoded):
        heads = p[rows]
        predicted, doubt = verdict(heads, [sum(each) / len(each) for each in heads], threshold)
        if doubt is not None:
            uncertainty.append(doubt)
            right.append(predicted == error)
    return fit_abstention(uncertainty, right, target=target)


def domain_bar(
    lane: CachedLane | TunedLane,
    readout: Readout,
    backbone: Backbone,
    config: TrainConfig,
    taught: Sequence[Document],
    fit: Sequence[Encoded],
    held: Sequence[Encoded],
) -> DomainBar | None:
    """The domain limits from the training solutions, without their alternatives, and the held ones."""
    paths = list({document.owner: i for i, document in reversed(list(enumerate(taught)))}.values())[::-1]
    embedder = Embedder(readout)

    def marks(parts: Sequence[Tensor]) -> list[NDArray[np.float64]]:
        return [embedder.marks(part, config.features) for part in parts if len(part)]

    if isinstance(lane, CachedLane):
        rows, offsets = lane.fit, row_offsets(fit)
        return fit_domain(marks([rows[offsets[i] : offsets[i + 1]] for i in paths]), marks(_parted(lane.held, held)))
    return fit_domain(
        marks(_read(backbone, [fit[i] for i in paths[:MOST_READ]], config)),
        marks(_read(backbone, held[:MOST_READ], config)),
    )


def _read(backbone: Backbone, items: Sequence[Encoded], config: TrainConfig) -> list[Tensor]:
    return _parted(compute_features(backbone, items, config.token_budget, config.features), items)


def _parted(rows: Tensor, items: Sequence[Encoded]) -> list[Tensor]:
    return list(rows.split([len(item.spans) for item in items])) if items else []
