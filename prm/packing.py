"""Batches documents for a forward pass, packed or padded.

Packed documents share one row without padding; position ids restart with each, and `prm.attention` keeps them apart.
Padded documents have one row each with padding at the right, which no token sees under causal attention. Either way a
document's states are those that it has alone.
"""

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from prm.attention import Documents


@dataclass(frozen=True)
class DecoderBatch:
    """The `inputs` of a decoder for a batch, and the first token of each document among the flattened rows."""

    inputs: dict[str, Any]
    starts: list[int]


def pack(documents: Sequence[Sequence[int]], device: torch.device) -> DecoderBatch:
    """Documents of token ids in one row; those of equal length are neighbours."""
    order = sorted(range(len(documents)), key=lambda i: len(documents[i]))
    lengths = [len(documents[i]) for i in order]
    bounds = Documents.of(lengths, device)
    starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
    positions = torch.arange(sum(lengths)) - starts.repeat_interleave(torch.tensor(lengths))
    inputs = {
        "input_ids": torch.tensor([token for i in order for token in documents[i]])[None].to(device),
        "position_ids": positions[None].to(device),
        # four dimensions mean a finished mask to `transformers`, which otherwise builds one of the row's length squared
        "attention_mask": torch.empty(1, 1, 0, 0, device=device),
        "documents": bounds,
    }
    places = dict(zip(order, starts.tolist(), strict=True))
    return DecoderBatch(inputs, [places[i] for i in range(len(documents))])


def pad(documents: Sequence[Sequence[int]], device: torch.device) -> DecoderBatch:
    """Documents of token ids in one row each, padded at the right."""
    longest = max(map(len, documents))
    ids = torch.zeros(len(documents), longest, dtype=torch.long)
    mask = torch.zeros(len(documents), longest, dtype=torch.long)
    for row, document in enumerate(documents):
        ids[row, : len(document)] = torch.tensor(document)
        mask[row, : len(document)] = 1
    inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
    return DecoderBatch(inputs, [row * longest for row in range(len(documents))])


def places(lengths: Sequence[int], *, packed: bool) -> int:
    """The number of tokens, including padding, in a pass over documents of these lengths."""
    return sum(lengths) if packed else len(lengths) * max(lengths, default=0)


def fill_batches(lengths: Sequence[int], token_budget: int, *, packed: bool) -> list[list[int]]:
    """Batches of indices of documents, sorted by length, each with `places` within the budget.

    Empty documents are left out; a document longer than the budget has its own batch.
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: (lengths[i], i))
    return _fill_in_order(lengths, order, token_budget, packed=packed)


def draw_batches(
    lengths: Sequence[int],
    owners: Sequence[int],
    token_budget: int,
    generator: torch.Generator,
    *,
    packed: bool,
) -> list[list[int]]:
    """An epoch's batches of documents within the budget, in random order; one owner's documents are neighbours.

    Packed, each owner in random order joins the fullest batch with room for all its documents. Padded, documents are
    sorted by length with a jitter, so that epochs differ and padding stays small.
    """
    owned: dict[int, list[int]] = {}
    for index, owner in enumerate(owners):
        if lengths[index]:
            owned.setdefault(owner, []).append(index)
    units = list(owned.values())
    if packed:
        units = [part for unit in units for part in _parts(lengths, unit, token_budget)]
        order = torch.randperm(len(units), generator=generator).tolist()
        bins = _fill_best([sum(lengths[i] for i in unit) for unit in units], order, token_budget)
        batches = [[index for unit in filled for index in units[unit]] for filled in bins]
    else:
        jitter = (1 + 0.2 * torch.rand(len(units), generator=generator)).tolist()
        near = sorted(range(len(units)), key=lambda unit: lengths[units[unit][0]] * jitter[unit])
        batches = _fill_in_order(lengths, [index for unit in near for index in units[unit]], token_budget, packed=False)
    return [batches[i] for i in torch.randperm(len(batches), generator=generator)]


def _parts(lengths: Sequence[int], unit: list[int], token_budget: int) -> list[list[int]]:
    """The unit, divided only if it exceeds the budget."""
    return _fill_in_order(lengths, unit, token_budget, packed=True)


def _fill_in_order(lengths: Sequence[int], order: Sequence[int], token_budget: int, *, packed: bool) -> list[list[int]]:
    batches: list[list[int]] = []
    total = longest = 0
    for index in order:
        total, longest = total + lengths[index], max(longest, lengths[index])
        taken = total if packed else (len(batches[-1]) + 1) * longest if batches else longest
        if batches and taken <= token_budget:
            batches[-1].append(index)
        else:
            batches.append([index])
            total = longest = lengths[index]
    return batches


def _fill_best(sizes: Sequence[int], order: Sequence[int], room: int) -> list[list[int]]:
    """Best fit: each item joins the fullest bin with room for it; an item larger than `room` has its own bin."""
    bins: list[list[int]] = []
    free: list[tuple[int, int]] = []  # room left and bin, least room first
    for item in order:
        at = bisect_left(free, (sizes[item], -1))
        if at < len(free):
            left, place = free.pop(at)
        else:
            left, place = room, len(bins)
            bins.append([])
        bins[place].append(item)
        insort(free, (left - sizes[item], place))
    return bins
