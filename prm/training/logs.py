"""Reports a run: progress to its caller, scalars to TensorBoard. Also checks for a request to stop."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import msgspec
from tensorboardX import SummaryWriter

from prm.config import Progress, Stage
from prm.errors import Cancelled
from prm.messages import Message, as_json
from prm.training.costs import Meter

TENSORBOARD_FOLDER = "tensorboard"
REPORT_SECONDS = 0.25
POINTS = 2000  # maximum of a curve in TensorBoard


class Epoch(msgspec.Struct):
    """One line of metrics.jsonl; losses in nats per labelled step, `held_loss` None without held-out data."""

    epoch: int
    loss: float
    held_loss: float | None


class Log:
    """Reports one run to its caller and to TensorBoard files in `folder`, None for a process that does not lead."""

    def __init__(
        self,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        meter: Meter,
        folder: Path | None,
    ) -> None:
        self.report, self.cancelled, self.meter, self.folder = report, cancelled, meter, folder
        self.begun = time.monotonic()
        self.stage: Stage | None = None
        self.reported_at, self.place = 0.0, (0, 0)
        self.notes: list[str] = []
        self.writer: SummaryWriter | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start of the run."""
        return time.monotonic() - self.begun

    def check(self) -> None:
        """Stop if requested."""
        if self.cancelled():
            self.stop()

    def stop(self) -> NoReturn:
        """Raises Cancelled."""
        raise Cancelled(Message("training_cancelled"))

    def say(
        self,
        stage: Stage,
        step: int,
        of: int,
        *,
        loss: float | None = None,
        held_loss: float | None = None,
        message: str = "",
        always: bool = False,
    ) -> None:
        """Report each new stage, its end and every message, and otherwise at most four times per second."""
        if stage != self.stage:
            self.meter.enter(stage)
        elif not (always or message or step == of) and self.seconds - self.reported_at < REPORT_SECONDS:
            return
        self.stage, self.reported_at, self.place = stage, self.seconds, (step, of)
        rates = self.meter.rates(stage)
        self.report(
            Progress(
                stage,
                step,
                of,
                round(self.seconds, 3),
                loss,
                str(message),
                code=message.code if isinstance(message, Message) else "",
                values=as_json(message)["values"] if isinstance(message, Message) else {},
                tokens_per_second=rates.tokens_per_second,
                utilisation=rates.utilisation,
                held_loss=held_loss,
            )
        )

    def note(self, stage: Stage, message: str) -> None:
        """Report a message that the manifest also stores."""
        self.notes.append(str(message))
        self.say(stage, *(self.place if stage == self.stage else (0, 0)), message=message)

    def step(self, step: int, of: int, *, loss: float, mean_loss: float, rate: float) -> None:
        """Report an optimiser step: its loss, the epoch's mean loss so far, and the learning rate."""
        self.say("train", step, of, loss=mean_loss)
        if step % (of // POINTS + 1) == 0:
            self._scalars(step, {"loss/step": loss, "learning_rate": rate})

    def epoch(self, step: int, of: int, epochs: int, epoch_losses: Epoch) -> None:
        """Report the end of an epoch."""
        message = Message("epoch_of", n=epoch_losses.epoch + 1, all=epochs)
        if epoch_losses.held_loss is not None:
            message = Message("epoch_loss", epoch=message, loss=epoch_losses.held_loss)
        self.say("train", step, of, loss=epoch_losses.loss, held_loss=epoch_losses.held_loss, message=message)
        rates = self.meter.rates("train")
        self._scalars(
            step,
            {
                "loss/epoch": epoch_losses.loss,
                "loss/held": epoch_losses.held_loss,
                "cost/tokens_per_second": rates.tokens_per_second,
                "cost/utilisation": rates.utilisation,
            },
        )

    def resume(self, step: int) -> None:
        """Continue the curves from `step` and delete later points."""
        if self.folder is not None and self.writer is None:
            self.writer = SummaryWriter(str(self.folder), purge_step=step or None)

    def close(self) -> None:
        """Write the remaining reports."""
        if self.writer is not None:
            self.writer.close()

    def _scalars(self, step: int, values: dict[str, float | None]) -> None:
        if self.writer is not None:
            for name, value in values.items():
                if value is not None:
                    self.writer.add_scalar(name, value, step)
