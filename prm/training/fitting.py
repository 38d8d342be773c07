"""The optimisation loop; every batch is seeded by its number, so that a resumed run repeats itself."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import torch
from torch import Tensor, nn

from prm.checkpoint import BACKBONE, load_state, save_state
from prm.config import TrainConfig
from prm.errors import Cancelled
from prm.trackers import TrackedRun
from prm.training.distributed import Team, assemble, lay_out, own_part
from prm.training.lanes import Lane
from prm.training.logs import Epoch, Log
from prm.training.memory import Budget
from prm.training.objective import Objective
from prm.training.stepping import Stepper

BEST, OPTIMISER = "best.", "optimiser."
ALL = ""  # the part that every parameter's name starts with


class State(msgspec.Struct):
    """The state of a run. `key` identifies config, data, code and backbone; a run with another key starts again.

    `run` is the run's id in trackers, which it keeps when it resumes.

    `part_tokens` and `token_budget` fit into memory, with and without gradient. The best held-out losses and their
    epochs are stored for each part of the readout that learns separately, or for all parts together.
    """

    key: str
    part_tokens: int
    token_budget: int
    run: str = ""
    epoch: int = 0
    batch: int = 0
    step: int = 0
    loss_sum: float = 0.0
    best_epochs: dict[str, int] = {}
    best_losses: dict[str, float] = {}
    history: list[Epoch] = []


class Fit:
    """Fits the readout of an objective, and the parameters that the lane tunes.

    `held` has the number of rows of each held-out solution; `passes` bounds the tokens of a pass without gradient. A
    request to stop is checked before every batch and while the held-out part is read, and leaves a checkpoint.
    """

    def __init__(
        self,
        lane: Lane,
        objective: Objective,
        held: list[int],
        config: TrainConfig,
        *,
        team: Team,
        log: Log,
        checkpoint: Path,
        key: str,
        passes: Budget,
        on_part: Callable[[list[int]], None],
    ) -> None:
        self.lane, self.objective, self.readout, self.config = lane, objective, objective.readout, config
        self.held, self.team, self.log, self.checkpoint = held, team, log, checkpoint
        self.tuned = lane.tuned()
        self.parameters: dict[str, nn.Parameter] = dict(self.readout.named_parameters())
        self.parameters |= {BACKBONE + n: p for n, p in self.tuned.items()}
        self.parts = Budget("training", config.part_tokens or config.batch_tokens, partial(log.note, "train"))
        self.passes = passes
        self.stepper = Stepper(lane, objective, self.tuned.values(), config, team, self.parts, on_part)
        self.total = config.epochs * len(lane.batches(0))
        self.state = State(key, self.parts.tokens, self.passes.tokens, uuid4().hex)
        self.best = self._snapshot()
        self.saved_at = time.monotonic()

    def run(self) -> None:
        """Fit to the end or until the held-out loss stops falling, from a checkpoint with this key if there is one."""
        self._resume()
        self.log.track(
            TrackedRun(self.checkpoint.parent.parent, self.state.run, self.state.step, msgspec.to_builtins(self.config))
        )
        self.log.meter.enter("train")
        try:
            while self.state.epoch < self.config.epochs:
                epochs = self.state.best_epochs.values()
                if epochs and all(self.state.epoch - best > self.config.patience for best in epochs):
                    break
                self._epoch()
        except Cancelled:
            if not self.stepper.sharded:  # else the processes may be at different places, and parts cannot be assembled
                self._save()
            raise
        self._restore(self.best)

    def held_logits(self) -> tuple[Tensor, Tensor | None]:
        """Logits of "no error" and of "the final answer is right" at the held steps, [heads, steps], on the CPU."""
        rows = self._held_rows()
        self.readout.eval()
        with torch.no_grad():
            outcome = None if self.readout.outcome is None else self.readout.outcome_logits(rows).cpu()
            return self.readout.step_logits(rows).cpu(), outcome

    def metrics(self) -> dict[str, float]:
        """The training loss at the best epoch of the first part, the number of epochs, and the held-out loss."""
        state = self.state
        best = next(iter(state.best_epochs.values()), state.epoch - 1)
        held = {"held_loss": sum(state.best_losses.values())} if state.best_losses else {}
        return {"loss": state.history[best].loss, "epochs": len(state.history), **held}

    def tensors(self) -> dict[str, Tensor]:
        """The fitted weights for a model file; every process must call this."""
        tuned = {BACKBONE + n: assemble(own_part(p.detach()), p) for n, p in self.tuned.items()}
        return self.readout.state_dict() | tuned

    def _epoch(self) -> None:
        state, batches = self.state, self.lane.batches(self.state.epoch)
        while state.batch < len(batches):
            self._stop_or_save()
            place = f"epoch {state.epoch}, batch {state.batch}"
            loss = self.stepper.step(batches[state.batch], number=state.step, of=self.total, place=place)
            state.loss_sum += loss
            state.batch += 1
            state.step += 1
            rate = self.stepper.optimiser.param_groups[0]["lr"]
            self.log.step(state.step, self.total, loss=loss, mean_loss=state.loss_sum / state.batch, rate=rate)
        self._end_epoch(len(batches))

    def _stop_or_save(self) -> None:
        """Stop or save between two batches, in all processes at once."""
        due = time.monotonic() - self.saved_at > self.config.checkpoint_seconds
        stop, save = self.team.total(self.log.cancelled(), due and self.team.leads)
        if save or (stop and self.stepper.sharded):  # else `run` saves on Cancelled
            self._save()
        if stop:
            self.log.stop()

    def _end_epoch(self, n_batches: int) -> None:
        state = self.state
        held = self._held_losses()
        held_loss = sum(held.values()) if held else None
        state.history.append(Epoch(state.epoch, state.loss_sum / max(1, n_batches), held_loss))
        self.log.epoch(state.step, self.total, self.config.epochs, state.history[-1])
        self._keep_best(held if held_loss is None or not self.tuned else {ALL: held_loss})
        state.epoch, state.batch, state.loss_sum = state.epoch + 1, 0, 0.0

    def _keep_best(self, held: dict[str, float]) -> None:
        """Store the weights of each part at its lowest held-out loss; the latest ones of a part without a loss.

        On a frozen backbone the parts of the readout learn independently, so each has its own best epoch: the outcome
        has one label per solution, and would stop the step heads too early.
        """
        state, now = self.state, self._snapshot()
        self.best |= {name: tensor for name, tensor in now.items() if not name.startswith(tuple(held))}
        for part, loss in held.items():
            if part not in state.best_losses or loss < state.best_losses[part]:
                state.best_losses[part], state.best_epochs[part] = loss, state.epoch
                self.best |= {name: tensor for name, tensor in now.items() if name.startswith(part)}

    def _held_losses(self) -> dict[str, float]:
        """The leader's held-out losses, so that all processes stop at the same epoch."""
        if not self.objective.holds:
            return {}
        rows = self._held_rows()
        self.readout.eval()
        with torch.no_grad():
            return self.team.from_leader(self.objective.held_losses(rows))

    def _held_rows(self) -> Tensor:
        """Features of the whole held-out part; each process reads its share, or all of it with sharded layers."""
        self.log.meter.enter("held")
        rows = self.team.attempt(lambda: self.passes.attempt(self.lane.held_features))
        self.log.meter.enter("train")
        return rows if self.stepper.sharded else self.team.collect(rows, self.held)

    def _snapshot(self) -> dict[str, Tensor]:
        """A copy on the CPU of this process's part of all trained parameters."""
        return {name: own_part(p.detach()).to("cpu", copy=True) for name, p in self.parameters.items()}

    def _restore(self, parts: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, parameter in self.parameters.items():
                own_part(parameter).copy_(parts[name])

    def _save(self) -> None:
        """Write a checkpoint of whole tensors; with sharded layers every process must call this."""
        self.state.part_tokens, self.state.token_budget = self.parts.tokens, self.passes.tokens
        tensors = {name: assemble(own_part(p.detach()), p) for name, p in self.parameters.items()}
        tensors |= {BEST + name: assemble(part, self.parameters[name]) for name, part in self.best.items()}
        for index, entries in self.stepper.optimiser.state_dict()["state"].items():
            for name, value in entries.items():
                tensor = torch.as_tensor(value)
                tensors[f"{OPTIMISER}{index}.{name}"] = assemble(own_part(tensor), tensor)
        if self.team.leads:
            save_state(self.checkpoint, tensors, self.state)
        self.saved_at = time.monotonic()

    def _resume(self) -> None:
        own, own_tensors = self.team.attempt(self._read_checkpoint)
        stored = self.team.from_leader(own)
        if stored.get("key") != self.state.key:  # of other code, the state may have other fields
            return
        tensors = self.team.tensors_from_leader(own_tensors)
        self.state = state = msgspec.convert(stored, State)
        self.parts.tokens, self.passes.tokens = state.part_tokens, state.token_budget
        self._restore({name: own_part(lay_out(tensors[name], p)) for name, p in self.parameters.items()})
        self.best = {name: own_part(lay_out(tensors[BEST + name], p)).cpu() for name, p in self.parameters.items()}
        self._resume_optimiser({n.removeprefix(OPTIMISER): t for n, t in tensors.items() if n.startswith(OPTIMISER)})

    def _read_checkpoint(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        if not self.team.leads or not self.checkpoint.exists():
            return {}, {}
        return load_state(self.checkpoint, dict[str, Any])

    def _resume_optimiser(self, tensors: dict[str, Tensor]) -> None:
        entries: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            index, entry = name.split(".", 1)
            parameter = self.stepper.parameters[int(index)]
            entries.setdefault(int(index), {})[entry] = lay_out(tensor, parameter) if tensor.ndim else tensor
        groups = self.stepper.optimiser.state_dict()["param_groups"]
        self.stepper.optimiser.load_state_dict({"state": entries, "param_groups": groups})
