"""Retrains heads from scratch on cached features, with the library's own objective and loop."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prm.answers.noise import NoiseRates
from prm.backbones import Backbone
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.features import heads_width, row_offsets, rows_of
from prm.heads import Readout
from prm.scoring.embedding import Embedder
from prm.simulation.worlds import World
from prm.threshold import Threshold
from prm.traces import Trace
from prm.training.caches import Cache
from prm.training.calibrating import calibrate
from prm.training.costs import Meter
from prm.training.dataset import NO_ESTIMATES, Document, as_documents, documents, unread_documents
from prm.training.distributed import ALONE
from prm.training.fitting import Fit
from prm.training.inputs import Reader, encode_cached
from prm.training.lanes import CachedLane
from prm.training.logs import Log
from prm.training.memory import Budget
from prm.training.objective import Objective
from prm.training.supervision import Supervision

CPU = torch.device("cpu")
UNKNOWN_NOISE = NoiseRates()
NONE: Mapping[int, Trace] = MappingProxyType({})
NEVER = 1e9  # seconds between checkpoints
AT_ONCE = 512  # steps whose features fit the processor's cache: half the time of a whole pool at once


@dataclass(frozen=True)
class Part:
    """Solutions with the features of their steps, `rows` [steps, width], and the bounds of each solution's rows."""

    traces: list[Trace]
    encoded: list[Encoded]
    rows: Tensor
    offsets: list[int]

    def rows_at(self, places: Sequence[int]) -> tuple[Tensor, NDArray[np.int64]]:
        """The features of the solutions at `places` in order, and the number of steps of each."""
        steps = np.diff(self.offsets)[list(places)]
        return self.rows[rows_of(list(places), self.offsets)], steps


@dataclass(frozen=True)
class Features:
    """The features of a world by a frozen backbone."""

    pool: Part
    calibration: Part
    test: Part


@dataclass(frozen=True)
class Model:
    """Trained heads, with the temperature and threshold fitted on the calibration part."""

    readout: Readout
    temperature: float
    threshold: Threshold

    def heads(self, rows: Tensor) -> NDArray[np.float64]:
        """p(good) by each head of each step, [steps, heads]."""
        with torch.no_grad():
            parts = [self.readout.step_logits(part) for part in rows.split(AT_ONCE)]
        logits = torch.cat(parts, dim=1).double().T.numpy()
        return np.asarray(1 / (1 + np.exp(-np.clip(logits / self.temperature, -60, 60))))

    def embeddings(self, rows: Tensor, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The embeddings of solutions in order, as in scoring: `Embedder.embed_all`."""
        return Embedder(self.readout).embed_all(rows, torch.from_numpy(steps))


def compute(world: World, backbone: Backbone, config: TrainConfig, cache: Cache) -> Features:
    """The features of every solution of a world, computed once or read from the cache."""
    log = _log()
    passes = _budget(config)
    reader = Reader(backbone, config.features, cache, ALONE, passes, lambda lengths: None, lambda done, of: None)

    def part(traces: list[Trace]) -> Part:
        encoded = encode_cached(traces, backbone, cache, lambda done, of: log.check())
        return Part(traces, encoded, reader.read(encoded), row_offsets(encoded))

    return Features(part(world.pool), part(world.calibration), part(world.test))


def learn(
    revealed: Sequence[Trace],
    places: Sequence[int],
    features: Features,
    config: TrainConfig,
    *,
    unread: Sequence[int] = (),
    noise: NoiseRates = UNKNOWN_NOISE,
    estimates: Mapping[int, Trace] = NONE,
    estimate_noise: NoiseRates = NO_ESTIMATES,
) -> Model:
    """Train on the revealed labels of the pool's solutions at `places`, until the calibration loss stops falling.

    The graded ones of the pool's solutions at `unread` teach by their answers, with the `noise` of those. `estimates`
    has by place the traces of solutions with Monte Carlo estimates; the unread ones teach with the `estimate_noise`.
    """
    pool, held = features.pool, features.calibration
    taught, encoded, rows = _labelled(revealed, places, pool, config)
    listed = [
        place
        for place in unread
        if (config.graded_weight and _teaches_by_grade(pool, place)) or (config.estimate_weight and place in estimates)
    ]
    traces = [estimates.get(place, pool.traces[place]) for place in listed]
    taught += unread_documents(traces, noise, len(places), estimate_noise)
    encoded += [pool.encoded[place] for place in listed]
    fit_rows = pool.rows[rows + rows_of(listed, pool.offsets)]
    known = Supervision.of(taught, encoded, config.neutral)
    held_known = Supervision.of(as_documents(held.traces), held.encoded, config.neutral)
    torch.manual_seed(config.seed)
    readout = Readout(config, heads_width(fit_rows.shape[1], config.features))
    readout.standardise_on(fit_rows)
    with tempfile.TemporaryDirectory() as folder:
        fit = Fit(
            CachedLane(fit_rows, held.rows, known.used(config), known.place, known.unread, config, CPU),
            Objective(readout, known, held_known, config),
            [len(item.spans) for item in held.encoded],
            config,
            team=ALONE,
            log=_log(),
            checkpoint=Path(folder) / "state.safetensors",
            key="",
            passes=_budget(config),
            on_part=lambda lengths: None,
        )
        fit.run()
    readout.eval()
    logits, _ = fit.held_logits()
    return Model(readout, *calibrate(held.traces, held.encoded, held_known, logits))


def _labelled(
    revealed: Sequence[Trace], places: Sequence[int], pool: Part, config: TrainConfig
) -> tuple[list[Document], list[Encoded], list[int]]:
    """The documents of the revealed labels, each with its encoded steps, and the pool's rows of these steps."""
    taught = documents(revealed, config)
    encoded: list[Encoded] = []
    rows: list[int] = []
    for place, document in zip(places, taught, strict=True):
        spans = pool.encoded[place].spans[: len(document.trace.steps)]
        encoded.append(Encoded(pool.encoded[place].ids, spans, len(document.trace.steps)))
        rows += range(pool.offsets[place], pool.offsets[place] + len(spans))
    return taught, encoded, rows


def _teaches_by_grade(pool: Part, place: int) -> bool:
    item = pool.encoded[place]
    return pool.traces[place].final_answer_correct is not None and len(item.spans) == item.n_steps


def _log() -> Log:
    return Log(lambda progress: None, lambda: False, Meter(CPU, ALONE), {})


def _budget(config: TrainConfig) -> Budget:
    return Budget("reading", config.token_budget, lambda message: None)
