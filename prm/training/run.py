"""Trains a PRM: read, encode, cache, fit, calibrate, save. Resumable and cancellable at every batch."""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from prm.answers.noise import NoiseRates, fit_estimate_noise, fit_noise
from prm.backbones import Backbone, load_configured, prepare_tuning
from prm.cards import CARD_FILE, model_card
from prm.checkpoint import save_model
from prm.config import Progress, Stage, TrainConfig
from prm.encoding import Encoded
from prm.errors import DataError
from prm.features import feature_width, heads_width
from prm.files import locked_folder, write_atomic
from prm.formats.mapping import Mapping
from prm.heads import Readout
from prm.manifest import Manifest, current_versions, data_sha256, finished_model, trace_sha256
from prm.messages import Message
from prm.threshold import UNFITTED, Threshold
from prm.trackers import find_trackers
from prm.training.caches import Cache
from prm.training.calibrating import abstention_bar, calibrate, domain_bar, fit_outcome_temperature
from prm.training.costs import Arithmetic, Meter
from prm.training.dataset import (
    Document,
    TrainingData,
    as_documents,
    documents,
    only_usable,
    read_training_data,
    unread_documents,
)
from prm.training.distributed import ALONE, Team, shard_layers
from prm.training.fitting import Fit
from prm.training.inputs import Reader, encode_cached
from prm.training.lanes import CachedLane, TunedLane
from prm.training.logs import Log
from prm.training.memory import Budget
from prm.training.objective import Objective
from prm.training.supervision import Supervision, counts, estimate_counts, graded_counts
from prm.trust import Trust

CHECKPOINT_FOLDER = "checkpoint"
METRICS_FILE = "metrics.jsonl"
DEFAULTS = TrainConfig()


def train(
    *,
    data: Path | str,
    out: Path | str,
    config: TrainConfig = DEFAULTS,
    report: Callable[[Progress], None] = lambda progress: None,
    cancelled: Callable[[], bool] = lambda: False,
    cache: Cache | None = None,
    mapping: Mapping | None = None,
) -> Manifest:
    """Train on the labelled solutions of `data`, a file of any format, and write a model folder to `out`.

    `mapping` names the columns of a table.

    A call with the same `data`, `out` and `config` resumes from the folder's checkpoint with the losses of an
    uninterrupted run (bit-identical on a CPU), or returns the finished model immediately. Processes started by
    `accelerate launch` or `torchrun` train one model; only the first one reports, and reads and writes `out`. Raises
    DataError for unusable data or processes that differ, TrainingError for a loss that is not finite or too little
    memory, and Cancelled (with a checkpoint) after `cancelled()`.
    """
    data, out = Path(data), Path(out)
    team = Team.join()
    device = team.device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
    meter = Meter(device, team)
    trackers = find_trackers(config.trackers) if team.leads else {}
    log = Log(report if team.leads else lambda progress: None, cancelled, meter, trackers)
    try:
        manifest = Training(out, config, cache, team, log).run(data, device, mapping)
    finally:
        log.close()
    team.wait(log.check)
    manifest = team.from_leader(manifest)
    assert manifest is not None
    return manifest


@dataclass(frozen=True)
class Lessons:
    """The encoded data for training and validation, with the labels of each step.

    `taught` are the labelled documents and `unread` those after them; `fit` has both, and `known` their rows.
    """

    parts: TrainingData
    noise: NoiseRates
    estimate_noise: NoiseRates
    taught: list[Document]
    unread: list[Document]
    fit: list[Encoded]
    held: list[Encoded]
    known: Supervision
    held_known: Supervision


class Training:
    """One run of `train` in one of its processes, from data to a model folder."""

    def __init__(self, out: Path, config: TrainConfig, cache: Cache | None, team: Team, log: Log) -> None:
        self.out, self.config, self.cache, self.team, self.log = out, config, cache, team, log
        self.passes = Budget("reading", config.token_budget, partial(log.note, "cache"))

    def run(self, data: Path, device: torch.device, mapping: Mapping | None) -> Manifest | None:
        """Train unless the folder has this model; returns None in a process that only computed features."""
        config, team = self.config, self.team
        self.log.meter.enter("read")
        parts, digest, backbone = team.attempt(lambda: self._inputs(data, device, mapping))
        base_sha256 = backbone.sha256  # cached before the weights are tuned
        team.agree(data=digest, config=repr(config), backbone=base_sha256, versions=repr(current_versions()))
        with ExitStack() as stack:
            finished = team.from_leader(finished_model(self.out, config, digest) if team.leads else None)
            if finished is not None and finished.base_sha256 == base_sha256:
                self.log.say(
                    "done",
                    1,
                    1,
                    message=Message("training_up_to_date", time=finished.created_at),
                )
                return finished
            team.attempt(lambda: stack.enter_context(locked_folder(self.out)) if team.leads else None)
            return self._learn(data, parts, digest, backbone)

    def _inputs(self, data: Path, device: torch.device, mapping: Mapping | None) -> tuple[TrainingData, str, Backbone]:
        parts = _ordered(read_training_data(data, self.config, mapping))
        return parts, data_sha256(data, mapping), load_configured(self.config, device=str(device))

    def _learn(self, data: Path, parts: TrainingData, digest: str, backbone: Backbone) -> Manifest | None:
        config = self.config
        lessons = self._lessons(parts, backbone)
        if not lessons.known.used(config).any():
            raise DataError(Message("no_labelled_step_in_context", data=data, n=backbone.context))
        arithmetic = Arithmetic.of(backbone, predictions="statistics" in config.features)
        torch.manual_seed(config.seed)
        prepare_tuning(backbone, config)
        readout = Readout(config, heads_width(feature_width(backbone.width, config.features), config.features))
        lane = self._lane(backbone, readout, lessons, arithmetic)
        if lane is None:
            return None
        objective = Objective(readout, lessons.known, lessons.held_known, config)
        fitting = Fit(
            lane,
            objective,
            [len(item.spans) for item in lessons.held],
            config,
            team=self.team,
            log=self.log,
            checkpoint=self.out / CHECKPOINT_FOLDER / "state.safetensors",
            key=_key(config, digest, backbone),
            passes=self.passes,
            on_part=lambda lengths: self.log.meter.add_lesson(lengths, config.lane, backbone, arithmetic),
        )
        fitting.run()
        return self._save(fitting, lessons, backbone, digest)

    def _lessons(self, parts: TrainingData, backbone: Backbone) -> Lessons:
        self.log.meter.enter("tokenise")
        if parts.to_measure:
            self.log.note("tokenise", Message("benchmark_left_to_measure", n=parts.to_measure))
        taught = documents(parts.fit, self.config)
        noise, estimate_noise = fit_noise(parts.fit), fit_estimate_noise(parts.estimated)
        listed = unread_documents(parts.unread, noise, len(parts.fit), estimate_noise)
        on_progress = partial(self._on_progress, "tokenise")
        fit = encode_cached([document.trace for document in taught], backbone, self.cache, on_progress)
        read = encode_cached([document.trace for document in listed], backbone, self.cache, on_progress)
        held = encode_cached(parts.held, backbone, self.cache, on_progress)
        unread, whole = only_usable(listed, read)
        known = Supervision.of([*taught, *unread], [*fit, *whole], self.config.neutral)
        held_known = Supervision.of(as_documents(parts.held), held, self.config.neutral)
        return Lessons(parts, noise, estimate_noise, taught, unread, [*fit, *whole], held, known, held_known)

    def _lane(
        self, backbone: Backbone, readout: Readout, lessons: Lessons, arithmetic: Arithmetic
    ) -> CachedLane | TunedLane | None:
        """The lane; also standardises the readout. Heads are small, so the leader trains them alone: None elsewhere."""
        config, team = self.config, self.team
        self.log.meter.enter("cache")
        reader = Reader(
            backbone,
            config.features,
            self.cache,
            team,
            self.passes,
            lambda lengths: self.log.meter.add_passes(lengths, self.passes.tokens, backbone, arithmetic),
            partial(self._on_progress, "cache"),
        )
        features = reader.read(lessons.fit)
        if team.leads:
            readout.standardise_on(features)
        readout.to(backbone.device)
        team.copy_from_leader(readout.buffers())
        if config.lane == "heads":
            held_features = reader.read(lessons.held)
            self.log.meter.absorb()
            self.team = ALONE
            known = lessons.known
            used, place, unread = known.used(config), known.place, known.unread
            return (
                CachedLane(features, held_features, used, place, unread, config, backbone.device)
                if team.leads
                else None
            )
        if config.shard and team.size > 1:
            shard_layers(backbone.layers, team)
        held = lessons.held if config.shard else team.deal(lessons.held)
        owners = [document.owner for document in (*lessons.taught, *lessons.unread)]
        unread = lessons.known.unread
        return TunedLane(backbone, lessons.fit, held, owners, unread, config, lambda done: self.log.check())

    def _save(self, fitting: Fit, lessons: Lessons, backbone: Backbone, digest: str) -> Manifest:
        config, log, known = self.config, self.log, lessons.held_known
        log.say("calibrate", 0, 1)
        logits, outcome_logits = fitting.held_logits()
        temperature, threshold, outcome_temperature = 1.0, UNFITTED, 1.0
        if lessons.parts.held_from != "none":  # too few held solutions stop training early, and fit nothing
            temperature, threshold = calibrate(lessons.parts.held, lessons.held, known, logits)
            if outcome_logits is not None:
                outcome_temperature = fit_outcome_temperature(known, outcome_logits)
        trust = self._trust(fitting, lessons, backbone, logits, temperature, threshold)
        tensors = fitting.tensors()
        if self.team.size > 1:
            log.meter.absorb()
        history = fitting.state.history
        manifest = Manifest(
            base=config.base,
            base_sha256=backbone.sha256,
            config=config,
            data_sha256=digest,
            counts=counts(lessons.parts, lessons.taught, lessons.fit, lessons.known),
            graded=graded_counts(lessons.known, lessons.noise),
            estimated=estimate_counts(lessons.known, lessons.estimate_noise),
            temperature=temperature,
            outcome_temperature=outcome_temperature,
            threshold=threshold,
            fitted_on=lessons.parts.held_from,
            metrics=fitting.metrics(),
            created_at=datetime.now(UTC).isoformat(timespec="seconds"),
            seconds=round(log.seconds, 3),
            versions=current_versions(),
            checksums={},
            costs=log.meter.costs(),
            notes=log.notes,
            trust=trust,
        )
        if self.team.leads:
            write_atomic(self.out / METRICS_FILE, b"".join(msgspec.json.encode(epoch) + b"\n" for epoch in history))
            manifest = save_model(self.out, tensors, manifest)
            write_atomic(self.out / CARD_FILE, model_card(manifest).encode())
            shutil.rmtree(self.out / CHECKPOINT_FOLDER, ignore_errors=True)
        log.say(
            "done",
            1,
            1,
            message=Message("threshold_fitted", threshold=threshold.value, part=lessons.parts.held_from),
        )
        return manifest

    def _trust(
        self,
        fitting: Fit,
        lessons: Lessons,
        backbone: Backbone,
        logits: Tensor,
        temperature: float,
        threshold: Threshold,
    ) -> Trust | None:
        """Limits from the held-out part; None if there is too little of it, or several processes share it."""
        lane, held = fitting.lane, lessons.parts.held
        if lessons.parts.held_from == "none" or self.team.size > 1 or not isinstance(lane, CachedLane | TunedLane):
            return None
        return Trust(
            domain=domain_bar(
                lane,
                fitting.readout,
                backbone,
                self.config,
                lessons.taught,
                lessons.fit[: len(lessons.taught)],
                lessons.held,
            ),
            abstention=abstention_bar(
                held,
                lessons.held,
                logits,
                temperature=temperature,
                threshold=threshold,
                target=self.config.verdict_accuracy,
            ),
        )

    def _on_progress(self, stage: Stage, done: int, of: int) -> None:
        self.log.check()
        self.log.say(stage, done, of)


def _ordered(parts: TrainingData) -> TrainingData:
    """The data in an order that does not depend on the file's."""
    fit, held, unread = (sorted(part, key=trace_sha256) for part in (parts.fit, parts.held, parts.unread))
    return replace(parts, fit=fit, held=held, unread=unread)


def _key(config: TrainConfig, data: str, backbone: Backbone) -> str:
    """The key of a checkpoint that this run can resume."""
    return hashlib.sha256(msgspec.json.encode([config, data, backbone.sha256, current_versions()])).hexdigest()
