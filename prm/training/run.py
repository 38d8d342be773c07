"""Train a PRM: read, encode, cache, fit, calibrate, save. Resumable and cancellable at every batch."""

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import Tensor

from prm.backbones import Backbone, load_backbone
from prm.calibration import fit_temperature, fit_threshold, mean_probability
from prm.cards import model_card
from prm.checkpoint import save_model, write_atomic
from prm.config import Progress, Stage, TrainConfig
from prm.encoding import Encoded, encode
from prm.errors import Cancelled, DataError
from prm.features import compute_features, feature_width, row_offsets
from prm.heads import Readout
from prm.labels import first_error
from prm.manifest import Manifest, file_sha256
from prm.traces import Trace
from prm.training.dataset import as_documents, documents, read_training_data
from prm.training.fitting import Fit
from prm.training.lanes import CachedLane, Lane, TunedLane
from prm.training.objective import Objective
from prm.training.supervision import Supervision, counts
from prm.tuning import prepare_tuning

ENCODE_CHUNK = 512  # traces tokenised between two looks at `cancelled`
CHECKPOINT_FOLDER = "checkpoint"
METRICS_FILE = "metrics.jsonl"
CARD_FILE = "CARD.md"


def train(
    *,
    data: Path,
    out: Path,
    config: TrainConfig,
    report: Callable[[Progress], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Train on the labelled traces of `data` and write a model folder to `out`.

    The same `data`, `out` and `config` resume from the folder's checkpoint with the losses of an
    uninterrupted run (to the bit on a CPU). Raises DataError for data that cannot be used,
    TrainingError for a loss that is not finite, Cancelled (checkpoint kept) once `cancelled()`.
    """
    watch = _Watch(report, cancelled)
    parts = read_training_data(data, config)
    out.mkdir(parents=True, exist_ok=True)
    backbone = load_backbone(config.base, context=config.context, packing=config.packing, precision=config.precision)
    base_sha256, data_sha256 = backbone.sha256, file_sha256(data)
    key = hashlib.sha256(msgspec.json.encode([config, data_sha256, base_sha256])).hexdigest()
    taught = documents(parts.fit, config)
    fit = _encode([document.trace for document in taught], backbone, watch)
    held = _encode(parts.held, backbone, watch)
    known = Supervision.of(taught, fit, config.neutral)
    held_known = Supervision.of(as_documents(parts.held), held, config.neutral)
    used = known.used(config)
    if not used.any():
        raise DataError(f"{data}: no labelled step fits the context of {backbone.context} tokens")

    torch.manual_seed(config.seed)
    prepare_tuning(backbone, config)
    readout = Readout(config, feature_width(backbone, config.features))
    objective = Objective(readout, known, held_known, config)
    features = _cache(backbone, fit, config, watch)
    readout.standardise_on(features)
    readout.to(backbone.device)
    lane: Lane
    if config.lane == "heads":
        held_features = _cache(backbone, held, config, watch)
        lane = CachedLane(features, held_features, used, known.place, config, backbone.device)
    else:
        lane = TunedLane(
            backbone, fit, held, [document.owner for document in taught], config, lambda done: watch.check()
        )
    fitting = Fit(
        lane,
        objective,
        config,
        checkpoint=out / CHECKPOINT_FOLDER / "state.safetensors",
        key=key,
        report=lambda step, of, loss, message: watch.say(
            "train", step, of, loss=loss, message=message, always=bool(message)
        ),
        check=watch.check,
    )
    fitting.run()
    history = fitting.state.history
    write_atomic(out / METRICS_FILE, b"".join(msgspec.json.encode(epoch) + b"\n" for epoch in history))

    watch.say("calibrate", 0, 1, always=True)
    logits, outcome_logits = fitting.held_logits()
    temperature, threshold = _calibrate(parts.held, held, held_known, logits)
    outcome_temperature = 1.0 if outcome_logits is None else _outcome_temperature(held_known, outcome_logits)
    best = history[fitting.state.best_epoch]
    manifest = Manifest(
        base=config.base,
        base_sha256=base_sha256,
        config=config,
        data_sha256=data_sha256,
        counts=counts(parts, taught, fit, known),
        temperature=temperature,
        outcome_temperature=outcome_temperature,
        threshold=threshold,
        fitted_on=parts.held_from,
        metrics={
            "loss": best.loss,
            "epochs": len(history),
            **({} if best.held_loss is None else {"held_loss": best.held_loss}),
        },
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=round(watch.seconds, 3),
        versions={name: version(name) for name in ("torch", "transformers", "safetensors")},
        checksums={},
    )
    manifest = save_model(out, fitting.tensors(), manifest)
    write_atomic(out / CARD_FILE, model_card(manifest).encode())
    shutil.rmtree(out / CHECKPOINT_FOLDER, ignore_errors=True)
    watch.say("done", 1, 1, always=True, message=f"threshold {threshold:.3f}, fitted on: {parts.held_from}")
    return manifest


class _Watch:
    """The run's clock and its two lines to the caller: reports out, a wish to stop in."""

    def __init__(self, report: Callable[[Progress], None], cancelled: Callable[[], bool]) -> None:
        self.report, self.cancelled = report, cancelled
        self.started = time.monotonic()
        self.said: tuple[Stage | None, float] = (None, 0.0)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def check(self) -> None:
        if self.cancelled():
            raise Cancelled("training was cancelled; the same command resumes it")

    def say(
        self, stage: Stage, step: int, of: int, *, loss: float | None = None, message: str = "", always: bool = False
    ) -> None:
        """Report at each new stage, at its end, and at most four times a second between."""
        if always or stage != self.said[0] or step == of or self.seconds - self.said[1] > 0.25:
            self.said = (stage, self.seconds)
            self.report(Progress(stage, step, of, round(self.seconds, 3), loss, message))


def _encode(traces: Sequence[Trace], backbone: Backbone, watch: _Watch) -> list[Encoded]:
    encoded: list[Encoded] = []
    for start in range(0, len(traces), ENCODE_CHUNK):
        watch.check()
        encoded += encode(traces[start : start + ENCODE_CHUNK], backbone.tokenizer, backbone.layout, backbone.context)
        watch.say("tokenise", len(encoded), len(traces))
    return encoded


def _cache(backbone: Backbone, encoded: Sequence[Encoded], config: TrainConfig, watch: _Watch) -> Tensor:
    def after_batch(done: int) -> None:
        watch.check()
        watch.say("cache", done, len(encoded))

    return compute_features(backbone, encoded, config.token_budget, config.features, after_batch)


def _calibrate(
    held: Sequence[Trace], encoded: Sequence[Encoded], known: Supervision, logits: Tensor
) -> tuple[float, float]:
    """Temperature and threshold; 1 and 0.5 where nothing was held. Solutions cut by the context are left out."""
    if not len(known.good):
        return 1.0, 0.5
    values = logits.double().numpy()
    temperature = fit_temperature(values, known.good.double().numpy(), known.weight.double().numpy())
    p = mean_probability(values, temperature)
    offsets = row_offsets(encoded)
    scores: list[np.ndarray] = []
    errors: list[int] = []
    for index, (trace, item) in enumerate(zip(held, encoded, strict=True)):
        error = first_error(trace)
        if error is not None and len(item.spans) == item.n_steps:
            scores.append(p[offsets[index] : offsets[index + 1]])
            errors.append(error)
    return temperature, fit_threshold(scores, errors)


def _outcome_temperature(known: Supervision, logits: Tensor) -> float:
    """The temperature of p(final answer right), fitted at the held solutions' last steps; 1 where none is known."""
    return fit_temperature(logits.double().numpy(), known.right.double().numpy(), known.ends.double().numpy())
