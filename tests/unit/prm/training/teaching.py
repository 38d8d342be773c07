"""Heads that learn from given rows of features, without a backbone."""

from collections.abc import Sequence
from itertools import count, islice

import torch
from torch import Tensor

from prm.config import TrainConfig
from prm.heads import Readout
from prm.training.dataset import Document, as_documents
from prm.training.lanes import CachedLane
from prm.training.objective import Objective
from prm.training.supervision import Supervision
from tests.unit.prm.training.test_objective import fitting


def teach(documents: Sequence[Document], rows: Tensor, config: TrainConfig, steps: int) -> Tensor:
    """p(good) of each row after `steps` optimiser steps; `rows` [steps, features] are the documents' in order."""
    supervision = Supervision.of(documents, fitting([document.trace for document in documents]), config.neutral)
    objective = Objective(
        Readout(config, rows.shape[1]), supervision, Supervision.of(as_documents([]), [], config.neutral), config
    )
    used, place = supervision.used(config), supervision.place
    lane = CachedLane(rows, rows[:0], used, place, supervision.unread, config, torch.device("cpu"))
    optimiser = torch.optim.Adam(objective.readout.parameters(), 0.02)
    for batch in islice((batch for epoch in count() for batch in lane.batches(epoch)), steps):
        optimiser.zero_grad()
        objective.loss(lane.features(batch), lane.rows(batch)).backward()
        optimiser.step()
    with torch.no_grad():
        return objective.readout.step_logits(rows).sigmoid().mean(0)
