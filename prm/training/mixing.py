"""Mixes unread solutions into the batches of labelled steps."""

from collections.abc import Sequence

import torch


def mix_in(
    batches: Sequence[list[int]],
    sizes: Sequence[int],
    *,
    solutions: Sequence[Sequence[int]],
    lengths: Sequence[int],
    share: float,
    right: Sequence[bool],
    generator: torch.Generator,
) -> list[list[int]]:
    """Each batch followed by unread solutions, as many with a right answer as with a wrong one.

    `sizes` are those of the batches, `lengths` those of the `solutions`, in one unit (steps or tokens). The unread
    solutions of a batch are about `share` times its size, so that the labels bound an epoch's cost, however many
    solutions are unread. No solution is used twice: when the rarer side has been used, the other batches get none, so
    that few solutions do not weigh as much as all labels.
    """
    sides = [[i for i, one in enumerate(right) if one == side] for side in (False, True)]
    if not all(sides):
        return list(batches)
    orders = [[side[k] for k in torch.randperm(len(side), generator=generator).tolist()] for side in sides]
    pairs = zip(*orders, strict=False)
    mixed = []
    for batch, size in zip(batches, sizes, strict=True):
        added: list[int] = []
        filled = 0
        while filled < share * size and (pair := next(pairs, None)):
            filled += sum(lengths[i] for i in pair)
            added += [member for i in pair for member in solutions[i]]
        mixed.append([*batch, *added])
    return mixed
