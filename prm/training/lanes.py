"""The source of a batch's step features: cached features of a frozen backbone, or the backbone being tuned."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

import torch
from torch import Tensor, nn

from prm.backbones import Backbone, tunable_parameters
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.features import compute_features, row_offsets, rows_of, step_features
from prm.packing import draw_batches
from prm.training.mixing import mix_in
from prm.training.supervision import UnreadSolutions

LEAST_BATCHES = 14  # of an epoch of heads: with few labels, training would stop before it had really begun
UNREAD_STEPS = 4  # of unread solutions for each labelled step: heads are cheap
UNREAD_TOKENS = 1  # of unread solutions for each labelled token: a tuned backbone is not


class Lane(Protocol):
    """A source of batches, which are lists of indices with a meaning that depends on the lane. A row is one step."""

    def batches(self, epoch: int) -> list[list[int]]:
        """The epoch's batches, the same at every call."""

    def groups(self, batch: list[int]) -> list[list[int]]:
        """The batch's smallest parts that cannot be divided."""

    def rows(self, batch: list[int]) -> Tensor:
        """The batch's rows [steps]."""

    def lengths(self, batch: list[int]) -> list[int]:
        """Tokens of the batch's documents; empty if the backbone does not run."""

    def features(self, batch: list[int]) -> Tensor:
        """The features [steps, width] of the batch's rows."""

    def held_features(self, token_budget: int) -> Tensor:
        """Features of every held-out step, without gradient, at most `token_budget` tokens at a time."""

    def tuned(self) -> dict[str, nn.Parameter]:
        """The backbone's parameters under training, by name."""


@dataclass
class CachedLane:
    """Trains heads on features computed once. A batch has rows; those of one `place` are neighbours.

    Only `counted` rows are drawn, each equally often in an epoch, and those of whole `unread` solutions. `counted` is
    [rows] of bool, `place` [rows] of numbers from 0.
    """

    fit: Tensor
    held: Tensor
    counted: Tensor
    place: Tensor
    unread: UnreadSolutions
    config: TrainConfig
    device: torch.device

    def batches(self, epoch: int) -> list[list[int]]:
        rows = self.counted.nonzero().squeeze(1)
        generator = _generator(self.config.seed, epoch)
        batches: list[list[int]] = []
        while len(batches) < LEAST_BATCHES:
            drawn = torch.randperm(len(self.place), generator=generator)[self.place[rows]]
            order = rows[drawn.argsort(stable=True)]
            batches += [part.tolist() for part in order.split(self.config.batch_steps)]
        return mix_in(
            batches,
            [len(batch) for batch in batches],
            solutions=self.unread.rows,
            lengths=[len(rows) for rows in self.unread.rows],
            share=UNREAD_STEPS,
            right=self.unread.right,
            generator=generator,
        )

    def groups(self, batch: list[int]) -> list[list[int]]:
        return [list(rows) for _, rows in groupby(batch, lambda row: int(self.place[row]))]

    def rows(self, batch: list[int]) -> Tensor:
        return torch.tensor(batch)

    def lengths(self, batch: list[int]) -> list[int]:
        return []

    def features(self, batch: list[int]) -> Tensor:
        return self.fit[self.rows(batch)].to(self.device)

    def held_features(self, token_budget: int) -> Tensor:
        return self.held.to(self.device)

    def tuned(self) -> dict[str, nn.Parameter]:
        return {}


class TunedLane:
    """Trains the backbone with the heads. A batch has documents; those of one owner are neighbours."""

    def __init__(
        self,
        backbone: Backbone,
        fit: list[Encoded],
        held: list[Encoded],
        owners: list[int],
        unread: UnreadSolutions,
        config: TrainConfig,
        after_batch: Callable[[int], None],
    ) -> None:
        self.backbone, self.fit, self.held, self.owners, self.config = backbone, fit, held, owners, config
        self.unread, self.after_batch = unread, after_batch
        self.offsets = row_offsets(fit)

    def batches(self, epoch: int) -> list[list[int]]:
        generator = _generator(self.config.seed, epoch)
        labelled = len(self.fit) - len(self.unread.documents)
        batches = draw_batches(
            [len(document.ids) for document in self.fit[:labelled]],
            self.owners[:labelled],
            self.config.batch_tokens,
            generator,
            packed=self.backbone.packed,
        )
        return mix_in(
            batches,
            [sum(self.lengths(batch)) for batch in batches],
            solutions=[[document] for document in self.unread.documents],
            lengths=self.lengths(self.unread.documents),
            share=UNREAD_TOKENS,
            right=self.unread.right,
            generator=generator,
        )

    def groups(self, batch: list[int]) -> list[list[int]]:
        return [list(documents) for _, documents in groupby(batch, self.owners.__getitem__)]

    def rows(self, batch: list[int]) -> Tensor:
        return torch.tensor(rows_of(batch, self.offsets))

    def lengths(self, batch: list[int]) -> list[int]:
        return [len(self.fit[i].ids) for i in batch]

    def features(self, batch: list[int]) -> Tensor:
        return step_features(self.backbone, [self.fit[i] for i in batch], self.config.features)

    def held_features(self, token_budget: int) -> Tensor:
        rows = compute_features(self.backbone, self.held, token_budget, self.config.features, self.after_batch)
        return rows.to(self.backbone.device)

    def tuned(self) -> dict[str, nn.Parameter]:
        return tunable_parameters(self.backbone)


def _generator(seed: int, epoch: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed * 1_000_003 + epoch)
