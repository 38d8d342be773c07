"""Continues from text already read, by its key/value cache and the other data that the next steps need.

A batch of several texts is padded on the left, so that all end together, as sliding windows require. Cached text is
immutable: extending it leaves it unchanged, so it can be branched without a copy.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from prm.backbones import Backbone
from prm.config import Feature
from prm.encoding import Encoded
from prm.features import Reading, decode, describe_steps, feature_width

BRANCHING = (DynamicLayer, DynamicSlidingWindowLayer)  # layers that grow by new tensors and leave the old ones alone


@dataclass(frozen=True)
class CachedText:
    """The cache of texts, one row each.

    `mask` [rows, tokens] is 0 on padding, and `last` [rows, width] is the state of each last token.
    """

    cache: DynamicCache
    mask: Tensor
    last: Tensor

    def rows(self, index: Sequence[int]) -> "CachedText":
        """These rows in this order; an index may occur several times."""
        chosen = torch.tensor(index, device=self.mask.device)
        cache = branch(self.cache)
        cache.batch_select_indices(chosen)
        return CachedText(cache, self.mask[chosen], self.last[chosen])


def has_reusable_cache(backbone: Backbone) -> bool:
    """Whether the backbone's state is only a cache of keys and values (no recurrent layer)."""
    return all(type(layer) in BRANCHING for layer in DynamicCache(config=backbone.model.config).layers)


def branch(cache: DynamicCache) -> DynamicCache:
    """A cache that can grow without changing the original; they share the existing tensors."""
    twin = copy.copy(cache)
    twin.layers = [copy.copy(layer) for layer in cache.layers]
    return twin


@torch.no_grad()
def read_text(
    backbone: Backbone, texts: Sequence[Encoded], features: Sequence[Feature]
) -> tuple[CachedText, list[Tensor]]:
    """Read texts from their beginning; returns their cache and each text's step features [steps, width]."""
    longest = max(len(text.ids) for text in texts)
    padding = [longest - len(text.ids) for text in texts]
    ids = torch.tensor([[0] * pad + list(text.ids) for pad, text in zip(padding, texts, strict=True)])
    ids = ids.to(backbone.device)
    mask = (torch.arange(longest) >= torch.tensor(padding)[:, None]).long().to(backbone.device)
    cache = DynamicCache(config=backbone.model.config)
    last, middle = decode(
        backbone,
        features,
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(1) - 1).clamp(min=0),
        past_key_values=cache,
        use_cache=True,
    )
    reading = Reading(
        ids.flatten(),
        torch.arange(ids.numel(), device=ids.device) - 1,
        last.flatten(0, 1),
        None if middle is None else middle.flatten(0, 1),
    )
    offsets = [row * longest + pad for row, pad in enumerate(padding)]
    return CachedText(cache, mask, last[:, -1]), _describe(backbone, reading, texts, offsets, features)


@torch.no_grad()
def extend_text(
    backbone: Backbone, cached: CachedText, texts: Sequence[Encoded], features: Sequence[Feature]
) -> tuple[CachedText, list[Tensor]]:
    """Extend each row by one text; returns the new cache and each text's step features [steps, width].

    Positions in `texts` count from the end of the cached text. Texts of uneven length are padded on the right, so only
    texts of equal length can be extended again.
    """
    n, longest = len(texts), max(len(text.ids) for text in texts)
    lengths = torch.tensor([len(text.ids) for text in texts], device=backbone.device)
    ids = torch.tensor([list(text.ids) + [0] * (longest - len(text.ids)) for text in texts], device=backbone.device)
    place = torch.arange(longest, device=backbone.device)
    mask = torch.cat([cached.mask, (place < lengths[:, None]).long()], dim=1)
    cache = branch(cached.cache)
    last, middle = decode(
        backbone,
        features,
        input_ids=ids,
        attention_mask=mask,
        position_ids=cached.mask.sum(1, keepdim=True) + place,
        past_key_values=cache,
        use_cache=True,
    )
    before = torch.arange(n * longest, device=ids.device).view(n, longest) + n - 1
    before[:, 0] = torch.arange(n, device=ids.device)  # a text's first token follows the last cached one
    ends = torch.arange(n, device=ids.device)
    reading = Reading(
        torch.cat([ids.new_zeros(n), ids.flatten()]),
        torch.cat([ends, before.flatten()]),
        torch.cat([cached.last, last.flatten(0, 1)]),
        None if middle is None else torch.cat([torch.zeros_like(cached.last), middle.flatten(0, 1)]),
    )
    offsets = [n + row * longest for row in range(n)]
    rows = _describe(backbone, reading, texts, offsets, features)
    return CachedText(cache, mask, last[torch.arange(n), lengths - 1]), rows


def _describe(
    backbone: Backbone,
    reading: Reading,
    texts: Sequence[Encoded],
    offsets: Sequence[int],
    features: Sequence[Feature],
) -> list[Tensor]:
    """Each text's step features; `offsets` are the rows of the texts' first tokens."""
    spans = [(at + start, at + end) for at, text in zip(offsets, texts, strict=True) for start, end in text.spans]
    if not spans:
        return [reading.last.new_zeros(0, feature_width(backbone.width, features), dtype=torch.float32)] * len(texts)
    per_text = [len(text.spans) for text in texts]
    return list(describe_steps(backbone, reading, spans, features).split(per_text))
