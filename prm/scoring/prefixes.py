"""Reads the common prefix of solutions to one problem once, as in best-of-N pools, and extends it by each solution.

The prefix is the problem with any first steps that all of the solutions share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import Feature
from prm.encoding import Encoded
from prm.packing import fill_batches
from prm.scoring.cached_text import extend_text, read_text

ShareChoice = Literal["auto", "always", "never"]
WORTH_SHARING = 0.3  # minimum share of tokens saved for "auto" to share a prefix
PADDING = 0.1  # maximum share of padding in a batch
CACHED_WEIGHT = 4  # cached tokens that count as one new token in the token budget


@dataclass(frozen=True)
class Family:
    """Indices of solutions that share the problem and the first `steps` steps, `length` tokens in all."""

    members: tuple[int, ...]
    steps: int
    length: int


def families(encoded: Sequence[Encoded], share: ShareChoice) -> tuple[list[Family], list[int]]:
    """The solutions that share a prefix, by family, and those that are read alone.

    With "auto", solutions of a problem share a prefix if that saves at least WORTH_SHARING of their tokens. Solutions
    without a step that fits are in neither.
    """
    by_problem: dict[tuple[int, ...], list[int]] = {}
    for index, item in enumerate(encoded):
        if item.spans:
            by_problem.setdefault(item.ids[: item.spans[0][0]], []).append(index)
    shared, alone = [], []
    for members in by_problem.values():
        family = _family(members, encoded)
        if _pays(family, encoded, share):
            shared.append(family)
        else:
            alone += members
    return shared, sorted(alone)


def shared_features(
    backbone: Backbone,
    encoded: Sequence[Encoded],
    families: Sequence[Family],
    features: Sequence[Feature],
    token_budget: int,
) -> Iterator[tuple[int, Tensor]]:
    """Index and step features [steps, width] of every member, batch by batch."""
    for group in fill_batches([family.length for family in families], token_budget, packed=False):
        chosen = [families[index] for index in group]
        firsts = [(family, encoded[family.members[0]]) for family in chosen]
        beginnings = [
            Encoded(item.ids[: family.length], item.spans[: family.steps], family.steps) for family, item in firsts
        ]
        texts, shared = read_text(backbone, beginnings, features)
        readers = [(row, index) for row, family in enumerate(chosen) for index in family.members]
        rests = [_rest(encoded[index], chosen[row]) for row, index in readers]
        cached = texts.mask.shape[1] // CACHED_WEIGHT
        for batch in near_batches([len(rest.ids) for rest in rests], cached, token_budget):
            rows = [readers[i][0] for i in batch]
            _, own = extend_text(backbone, texts.rows(rows), [rests[i] for i in batch], features)
            for i, row, part in zip(batch, rows, own, strict=True):
                yield readers[i][1], torch.cat([shared[row], part])


def near_batches(lengths: Sequence[int], cached: int, token_budget: int) -> list[list[int]]:
    """Batches of indices, sorted by length, with little padding once a batch has an eighth of the budget.

    A row counts as many tokens as the longest row, and `cached` ones, towards the budget.
    """
    batches: list[list[int]] = []
    total = 0
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        rows = len(batches[-1]) + 1 if batches else 1
        padding = 1 - (total + lengths[index]) / (rows * lengths[index])
        uneven = padding > PADDING and total >= token_budget // 8
        if batches and not uneven and rows * (lengths[index] + cached) <= token_budget:
            batches[-1].append(index)
            total += lengths[index]
        else:
            batches.append([index])
            total = lengths[index]
    return batches


def _family(members: Sequence[int], encoded: Sequence[Encoded]) -> Family:
    first = encoded[members[0]]
    limit = min(len(encoded[index].spans) for index in members) - 1  # each has a step of its own to read
    steps = 0
    while steps < limit and len({encoded[i].ids[slice(*encoded[i].spans[steps])] for i in members}) == 1:
        steps += 1
    return Family(tuple(members), steps, first.spans[steps][0])


def _pays(family: Family, encoded: Sequence[Encoded], share: ShareChoice) -> bool:
    if share == "never" or len(family.members) < 2:
        return False
    saved = (len(family.members) - 1) * family.length
    return share == "always" or saved >= WORTH_SHARING * sum(len(encoded[index].ids) for index in family.members)


def _rest(item: Encoded, family: Family) -> Encoded:
    spans = tuple((start - family.length, end - family.length) for start, end in item.spans[family.steps :])
    return Encoded(item.ids[family.length :], spans, len(spans))
