"""The optimisation loop: every batch seeded by its number, so that a resumed run repeats itself."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from prm.checkpoint import BACKBONE, load_state, save_state
from prm.config import TrainConfig
from prm.errors import Cancelled, TrainingError
from prm.training.lanes import Lane
from prm.training.objective import Objective

BEST, OPTIMISER = "best.", "optimiser."


class Epoch(msgspec.Struct):
    """One line of metrics.jsonl; losses in nats per labelled step, `held_loss` None where nothing is held."""

    epoch: int
    loss: float
    held_loss: float | None


class State(msgspec.Struct):
    """Where a run stands. `key` identifies config, data and backbone; another key starts afresh."""

    key: str
    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best_epoch: int = -1
    best_loss: float | None = None
    history: list[Epoch] = []


class Fit:
    """The readout of an objective (and what the lane tunes) fitted to it.

    `check` is called before every batch and may raise Cancelled, upon which a checkpoint is left.
    """

    def __init__(
        self,
        lane: Lane,
        objective: Objective,
        config: TrainConfig,
        *,
        checkpoint: Path,
        key: str,
        report: Callable[[int, int, float, str], None],
        check: Callable[[], None],
    ) -> None:
        self.lane, self.objective, self.readout, self.config = lane, objective, objective.readout, config
        self.checkpoint, self.report, self.check = checkpoint, report, check
        self.tuned = lane.tuned()
        self.parameters: dict[str, nn.Parameter] = dict(self.readout.named_parameters())
        self.parameters |= {BACKBONE + n: p for n, p in self.tuned.items()}
        decay = 0.0 if config.anchor else config.weight_decay
        groups: list[dict[str, Any]] = [
            {"params": list(self.readout.parameters()), "lr": config.learning_rate, "weight_decay": decay}
        ]
        if self.tuned:
            groups.append(
                {"params": list(self.tuned.values()), "lr": config.backbone_learning_rate, "weight_decay": 0.01}
            )
        self.optimiser = torch.optim.AdamW(groups)
        self.peaks = [group["lr"] for group in groups]
        self.total = config.epochs * len(lane.batches(0))
        self.state = State(key=key)
        self.best = self._snapshot()
        self.saved_at = time.monotonic()

    def run(self) -> None:
        """Fit to the end or until held loss stops falling, from the checkpoint where one of this key lies."""
        self._resume()
        state = self.state
        while state.epoch < self.config.epochs and not self._stale():
            batches = self.lane.batches(state.epoch)
            while state.batch < len(batches):
                try:
                    self.check()
                except Cancelled:
                    self._save()
                    raise
                state.loss_sum += self._step(batches[state.batch])
                state.batch += 1
                state.step += 1
                self.report(state.step, self.total, state.loss_sum / state.batch, "")
                if time.monotonic() - self.saved_at > self.config.checkpoint_seconds:
                    self._save()
            self._end_epoch(len(batches))
        self._restore(self.best)

    def held_logits(self) -> tuple[Tensor, Tensor | None]:
        """Logits of "no error" and of "the final answer is right" at the held steps, [heads, steps], on the CPU."""
        self.readout.eval()
        with torch.no_grad():
            rows = self.lane.held_features()
            outcome = None if self.readout.outcome is None else self.readout.outcome_logits(rows).cpu()
            return self.readout.step_logits(rows).cpu(), outcome

    def tensors(self) -> dict[str, Tensor]:
        """The fitted weights as they go into a model file."""
        return self.readout.state_dict() | {BACKBONE + n: p.detach() for n, p in self.tuned.items()}

    def _step(self, batch: list[int]) -> float:
        torch.manual_seed(self.config.seed * 1_000_003 + self.state.step)
        self._set_rates()
        self.readout.train()
        rows, index = self.lane.features(batch)
        loss = self.objective.loss(rows, index)
        if not torch.isfinite(loss):
            names = self.objective.trace_ids(index)
            raise TrainingError(
                f"the loss is {loss.item()} at epoch {self.state.epoch}, batch {self.state.batch} "
                f"({', '.join(names[:8])}{', ...' if len(names) > 8 else ''})"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters.values(), 1.0)
        self.optimiser.step()
        return loss.item()

    def _set_rates(self) -> None:
        warm_up = max(1, self.total // 20)
        step = self.state.step
        share = min(1.0, step / max(1, self.total))
        factor = min((step + 1) / warm_up, 0.5 * (1 + math.cos(math.pi * share)))
        for group, peak in zip(self.optimiser.param_groups, self.peaks, strict=True):
            group["lr"] = peak * factor

    def _end_epoch(self, n_batches: int) -> None:
        state = self.state
        held_loss = self._held_loss()
        loss = state.loss_sum / max(1, n_batches)
        state.history.append(Epoch(state.epoch, loss, held_loss))
        held = "" if held_loss is None else f", held {held_loss:.4f}"
        self.report(state.step, self.total, loss, f"epoch {state.epoch + 1} of {self.config.epochs}{held}")
        if held_loss is None or state.best_loss is None or held_loss < state.best_loss:
            state.best_loss, state.best_epoch = held_loss, state.epoch
            self.best = self._snapshot()
        state.epoch, state.batch, state.loss_sum = state.epoch + 1, 0, 0.0

    def _held_loss(self) -> float | None:
        if not self.objective.holds:
            return None
        self.readout.eval()
        with torch.no_grad():
            return self.objective.held_loss(self.lane.held_features())

    def _stale(self) -> bool:
        return self.state.best_loss is not None and self.state.epoch - self.state.best_epoch > self.config.patience

    def _snapshot(self) -> dict[str, Tensor]:
        return {name: p.detach().clone() for name, p in self.parameters.items()}

    def _restore(self, tensors: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                parameter.copy_(tensors[name])

    def _save(self) -> None:
        tensors = dict(self._snapshot())
        tensors |= {BEST + name: tensor for name, tensor in self.best.items()}
        for index, entries in self.optimiser.state_dict()["state"].items():
            tensors |= {f"{OPTIMISER}{index}.{name}": torch.as_tensor(value) for name, value in entries.items()}
        save_state(self.checkpoint, tensors, self.state)
        self.saved_at = time.monotonic()

    def _resume(self) -> None:
        if not self.checkpoint.exists():
            return
        state, tensors = load_state(self.checkpoint, State)
        if state.key != self.state.key:
            return
        self.state = state
        self._restore(tensors)
        self.best = {name: tensors[BEST + name].to(p.device) for name, p in self.parameters.items()}
        entries: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith(OPTIMISER):
                index, entry = name.removeprefix(OPTIMISER).split(".", 1)
                entries.setdefault(int(index), {})[entry] = tensor
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": entries, "param_groups": groups})
