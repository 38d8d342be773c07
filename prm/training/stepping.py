"""One optimiser step: the processes share a batch, read it in parts that fit in memory, and sum its gradients."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from prm.config import Optimizer, TrainConfig
from prm.errors import TrainingError
from prm.messages import Message
from prm.training.distributed import Team, clip, is_sharded
from prm.training.lanes import Lane
from prm.training.memory import Budget, ran_out
from prm.training.objective import Objective

MOST_NORM = 1.0  # of the gradient, after clipping


class Stepper:
    """Takes steps that do not depend on the number of parts and processes, except for rounding and dropout.

    `budget` bounds the tokens of a part; `on_part` is called with the lengths of the documents in each part.
    """

    def __init__(
        self,
        lane: Lane,
        objective: Objective,
        tuned: Iterable[nn.Parameter],
        config: TrainConfig,
        team: Team,
        budget: Budget,
        on_part: Callable[[list[int]], None],
    ) -> None:
        self.lane, self.objective, self.config, self.team = lane, objective, config, team
        self.budget, self.on_part = budget, on_part
        groups = _groups(list(objective.readout.parameters()), list(tuned), config)
        self.parameters = [parameter for group in groups for parameter in group["params"]]
        self.sharded = any(map(is_sharded, self.parameters))
        self.optimiser = _OPTIMISERS[config.optimizer](groups)
        self.peaks = [group["lr"] for group in groups]

    def step(self, batch: list[int], *, number: int, of: int, place: str) -> float:
        """Take step `number` of `of` and return the batch's loss; raises TrainingError naming `place` if not finite."""
        loss = self._gradients(batch, number)
        while loss is None:
            self.budget.halve()
            loss = self._gradients(batch, number)
        if not math.isfinite(loss):
            names = self.objective.trace_ids(self.lane.rows(batch))
            raise TrainingError(
                Message(
                    "loss_not_finite",
                    loss=loss,
                    place=place,
                    solutions=", ".join(names[:8]) + ", ..." * (len(names) > 8),
                )
            )
        self._add_up()
        clip(self.parameters, MOST_NORM)
        self._set_rates(number, of)
        self.optimiser.step()
        return loss

    def _gradients(self, batch: list[int], number: int) -> float | None:
        """Compute this process's gradients; returns the batch's loss, None if any process ran out of memory."""
        self.optimiser.zero_grad(set_to_none=True)
        _reseed((self.config.seed * 1_000_003 + number) * self.team.size + self.team.rank)
        self.objective.readout.train()
        loss, short = 0.0, False
        try:
            loss = sum(self._read(part, whole, counts=counts) for part, whole, counts in self._parts(batch))
        except (RuntimeError, MemoryError) as error:
            if self.sharded or not ran_out(error):  # with shards, the others wait for this process inside a layer
                raise
            short = True
        loss, shorts = self.team.total(loss, short)
        return None if shorts else loss

    def _parts(self, batch: list[int]) -> Iterator[tuple[list[int], Tensor | None, bool]]:
        """This process's parts, each with the rows of the batch if it has several parts, and whether the part counts.

        Processes with sharded layers must read equally many parts, so some read an extra one that does not count.
        """
        groups = self.lane.groups(batch)
        shares = [self._split(groups[rank :: self.team.size]) for rank in range(self.team.size)]
        mine = shares[self.team.rank]
        whole = self.lane.rows(batch) if sum(map(len, shares)) > 1 else None
        yield from ((part, whole, True) for part in mine)
        if self.sharded:
            yield from ((groups[0], whole, False) for _ in range(max(map(len, shares)) - len(mine)))

    def _split(self, groups: list[list[int]]) -> list[list[int]]:
        """Consecutive groups joined within the budget; a group is never divided."""
        parts: list[list[int]] = []
        tokens = 0
        for group in groups:
            size = sum(self.lane.lengths(group))
            if parts and tokens + size <= self.budget.tokens:
                parts[-1].extend(group)
                tokens += size
            else:
                parts.append(list(group))
                tokens = size
        return parts

    def _read(self, part: list[int], whole: Tensor | None, *, counts: bool) -> float:
        features = self.lane.features(part)
        loss = self.objective.loss(features, self.lane.rows(part), whole) if counts else features.sum() * 0
        loss.backward()
        self.on_part(self.lane.lengths(part))
        return float(loss.detach())

    def _add_up(self) -> None:
        """Sum the gradients of all processes; a parameter without a gradient in any process keeps none."""
        if self.team.size == 1:
            return
        replicated = [p for p in self.parameters if not is_sharded(p)]
        having = self.team.total(*(p.grad is not None for p in replicated))
        learning = [p for p, count in zip(replicated, having, strict=True) if count]
        for parameter in learning:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.team.add_up([p.grad for p in learning if p.grad is not None])

    def _set_rates(self, number: int, of: int) -> None:
        factor = rate_factor(self.config, number, of)
        for group, peak in zip(self.optimiser.param_groups, self.peaks, strict=True):
            group["lr"] = peak * factor


_OPTIMISERS: dict[Optimizer, Callable[[list[dict[str, Any]]], torch.optim.Optimizer]] = {
    "adamw": partial(torch.optim.AdamW, fused=True),
    "adafactor": torch.optim.Adafactor,
    "sgd": partial(torch.optim.SGD, momentum=0.9),
}


def rate_factor(config: TrainConfig, number: int, of: int) -> float:
    """The learning rate of step `number` of `of` as a share of its peak."""
    share = min(1.0, number / max(1, of))
    falling = {"constant": 1.0, "linear": 1 - share, "cosine": 0.5 * (1 + math.cos(math.pi * share))}
    return min((number + 1) / max(1, int(of * config.warmup)), falling[config.schedule])


def _groups(readout: list[nn.Parameter], tuned: list[nn.Parameter], config: TrainConfig) -> list[dict[str, Any]]:
    """The optimiser's groups: the readout, the backbone's whole parameters and its sharded ones."""
    decay = 0.0 if config.anchor else config.weight_decay
    groups: list[dict[str, Any]] = [{"params": readout, "lr": config.learning_rate, "weight_decay": decay}]
    for sharded in (False, True):
        parameters = [p for p in tuned if is_sharded(p) == sharded]
        if parameters:
            groups.append({"params": parameters, "lr": config.backbone_learning_rate, "weight_decay": 0.01})
    return groups


def _reseed(seed: int) -> None:
    """Seed torch. Without an accelerator, `torch.manual_seed` records the call stack, which takes a tenth of a step."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed(seed)
