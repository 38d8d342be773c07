"""Reports a run: progress to its caller, figures to trackers. Also checks for a request to stop."""

import time
from collections.abc import Callable, Mapping
from typing import NoReturn

import msgspec

from prm.config import Progress, Stage
from prm.errors import Cancelled, TrainingError
from prm.messages import Message, as_json
from prm.trackers import TrackedRun, Tracker, TrackerKind
from prm.training.costs import Meter

REPORT_SECONDS = 0.25
POINTS = 2000  # maximum of a curve


class Epoch(msgspec.Struct):
    """One line of metrics.jsonl; losses in nats per labelled step, `held_loss` None without held-out data."""

    epoch: int
    loss: float
    held_loss: float | None


class Log:
    """Reports one run to its caller and to `trackers` by name; a process that does not lead has none."""

    def __init__(
        self,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        meter: Meter,
        trackers: Mapping[str, TrackerKind],
    ) -> None:
        self.report, self.cancelled, self.meter, self._kinds = report, cancelled, meter, trackers
        self.begun = time.monotonic()
        self.stage: Stage | None = None
        self.reported_at, self.place = 0.0, (0, 0)
        self.notes: list[str] = []
        self._trackers: dict[str, Tracker] = {}

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
    ) -> None:
        """Report each new stage, its end and every message, and otherwise at most four times per second."""
        if stage != self.stage:
            self.meter.enter(stage)
        elif not (message or step == of) and self.seconds - self.reported_at < REPORT_SECONDS:
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

    def track(self, run: TrackedRun) -> None:
        """Open the trackers. Raises TrainingError if one does not open."""
        for name, kind in self._kinds.items():
            try:
                self._trackers[name] = kind(run)
            except Exception as error:
                raise TrainingError(Message("tracker_unusable", name=name, error=_first_line(error))) from error

    def close(self) -> None:
        """Write the remaining reports."""
        for name, tracker in list(self._trackers.items()):
            try:
                tracker.close()
            except Exception as error:
                self._drop(name, error)

    def _scalars(self, step: int, values: dict[str, float | None]) -> None:
        known = {name: value for name, value in values.items() if value is not None}
        for name, tracker in list(self._trackers.items()):
            try:
                tracker.log(known, step)
            except Exception as error:
                self._drop(name, error)

    def _drop(self, name: str, error: Exception) -> None:
        """Continue without a tracker: another program's failure must not end a training."""
        del self._trackers[name]
        self.note(self.stage or "train", Message("tracker_failed", name=name, error=_first_line(error)))


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
