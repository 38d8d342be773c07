"""Computes step features by a backbone in this process, within the available memory."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import Feature
from prm.encoding import Encoded, Layout
from prm.errors import ScoringError
from prm.features import compute_features, feature_width
from prm.messages import Message
from prm.scoring.cached_text import has_reusable_cache
from prm.scoring.prefixes import ShareChoice, families, shared_features

PORTION = 8  # batches read before their features are returned
CPU_TOKENS = 2048  # of a pass whose states fit the processor's cache; the gain still needs a quiet measurement
log = logging.getLogger(__name__)


class Reader(Protocol):
    """Reads token ids with a backbone; `context` is the maximum number of tokens."""

    @property
    def tokenizer(self) -> Any: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def context(self) -> int: ...

    def read(self, encoded: Sequence[Encoded]) -> Iterator[tuple[int, Tensor]]:
        """Index and step features [steps, width] of each item once, in any order."""


@dataclass
class LocalReader:
    """A backbone in this process.

    `token_budget` is the number of tokens, padding included, in one forward pass; on a CPU at most CPU_TOKENS.
    """

    backbone: Backbone
    features: Sequence[Feature]
    token_budget: int = 8192
    share_prefix: ShareChoice = "auto"

    def __post_init__(self) -> None:
        if self.backbone.device.type == "cpu":
            self.token_budget = min(self.token_budget, CPU_TOKENS)

    @property
    def tokenizer(self) -> Any:
        return self.backbone.tokenizer

    @property
    def layout(self) -> Layout:
        return self.backbone.layout

    @property
    def context(self) -> int:
        return self.backbone.context

    def read(self, encoded: Sequence[Encoded]) -> Iterator[tuple[int, Tensor]]:
        """Index and step features of each item; equal items are read once.

        If the GPU runs out of memory, the budget is halved permanently and the remaining items are tried again.
        """
        places: dict[Encoded, list[int]] = {}
        for index, item in enumerate(encoded):
            if item.spans:
                places.setdefault(item, []).append(index)
            else:
                yield index, torch.zeros(0, feature_width(self.backbone.width, self.features))
        while places:
            try:
                for item, rows in self._read(list(places)):
                    for index in places.pop(item):
                        yield index, rows
            except torch.OutOfMemoryError as error:
                shortage = str(error).splitlines()[0]
            if places:
                self._shrink(min(len(item.ids) for item in places), shortage)

    def _read(self, items: Sequence[Encoded]) -> Iterator[tuple[Encoded, Tensor]]:
        share: ShareChoice = self.share_prefix if has_reusable_cache(self.backbone) else "never"
        together, alone = families(items, share)
        for index, rows in shared_features(self.backbone, items, together, self.features, self.token_budget):
            yield items[index], rows.cpu()
        for portion in _portions([items[index] for index in alone], PORTION * self.token_budget):
            rows = compute_features(self.backbone, portion, self.token_budget, self.features)
            yield from zip(portion, rows.split([len(item.spans) for item in portion]), strict=True)

    def _shrink(self, shortest: int, shortage: str) -> None:
        if self.token_budget <= shortest:
            raise ScoringError(Message("solution_exceeds_gpu_memory", shortest=shortest, shortage=shortage))
        self.token_budget //= 2
        torch.cuda.empty_cache()
        log.warning("out of GPU memory: continuing with a budget of %d tokens per pass", self.token_budget)


def _portions(items: Sequence[Encoded], tokens: int) -> Iterator[list[Encoded]]:
    """The items sorted by length, in portions of about this many tokens."""
    portion: list[Encoded] = []
    size = 0
    for item in sorted(items, key=lambda item: len(item.ids)):
        portion.append(item)
        size += len(item.ids)
        if size >= tokens:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
