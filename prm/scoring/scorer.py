"""Scores the steps of solutions by a trained model, or by a backbone without labels."""

import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from prm.backbones import Backbone, load_backbone, load_configured, prepare_tuning, tunable_parameters
from prm.checkpoint import BACKBONE, load_model
from prm.config import Feature
from prm.encoding import Layout, tokenise
from prm.errors import ModelFileError, ScoringError
from prm.features import feature_width
from prm.heads import Readout
from prm.manifest import Manifest, base_of
from prm.messages import Message
from prm.scores import UNSCORED, StepScore, Throughput, TraceScore
from prm.scoring.embedding import Embedder, Familiarity
from prm.scoring.prefixes import ShareChoice
from prm.scoring.readers import LocalReader, Reader
from prm.scoring.session import Session
from prm.scoring.verdicts import Judges, judge_by_surprise, load_readout, outside_judges, trained_judges
from prm.scoring.windows import Long, Window, windows
from prm.threshold import UNFITTED
from prm.traces import Trace

CHUNK = 256  # traces read ahead, so that batches have similar lengths and solutions to one problem share a prefix
REPORT_SECONDS = 0.25


class Scorer:
    """p(step is good | good prefix) for every step of every trace, in one forward pass per trace.

    `reader` computes step features, and `judges` convert them to scores. A score below `threshold` counts as an error.
    `manifest` and `readout`, the ensembles of the judges, are None for a zero-label scorer; a model that was trained
    elsewhere has no readout. `long` is the treatment of steps beyond the context: "null" or "window".
    """

    def __init__(
        self,
        reader: Reader,
        judges: Judges,
        *,
        manifest: Manifest | None = None,
        readout: Readout | None = None,
        long: Long = "null",
    ) -> None:
        self.reader, self.judges, self.long = reader, judges, long
        self.manifest, self.readout = manifest, readout
        self.threshold = UNFITTED if manifest is None else manifest.threshold
        self._embedder = None if readout is None else Embedder(readout)
        self._familiarity: Familiarity | None = None  # for a model with domain limits
        if self._embedder and manifest and manifest.trust and manifest.trust.domain:
            self._familiarity = Familiarity(self._embedder, manifest.config.features, manifest.trust.domain)

    @classmethod
    def load(
        cls,
        model_dir: Path | str,
        device: str | None = None,
        *,
        long: Long = "null",
        share_prefix: ShareChoice = "auto",
    ) -> "Scorer":
        """Load a trained model; raises ModelFileError if its files or its backbone are not the trained ones.

        `share_prefix` says whether solutions share one reading of their problem: "auto" if it saves enough tokens.
        """
        model_dir = Path(model_dir)
        manifest, tensors = load_model(model_dir)
        config = manifest.config
        base = base_of(model_dir, manifest)
        backbone = load_configured(config, base=base, device=device, headless=manifest.outside is not None)
        if backbone.sha256 != manifest.base_sha256:
            raise ModelFileError(Message("base_model_differs", model_dir=model_dir, base=manifest.base))
        reader = LocalReader(backbone, config.features, config.token_budget, share_prefix)
        if manifest.outside is not None:
            outside = manifest.outside
            backbone.layout = Layout(outside.start, outside.problem_end, outside.step_end, outside.between)
            backbone.model.to(backbone.compute).requires_grad_(False)
            judges = outside_judges(outside, tensors, backbone.device, model_dir)
            return cls(reader, judges, manifest=manifest, long=long)
        prepare_tuning(backbone, msgspec.structs.replace(config, compile=False, gradient_checkpointing=False))
        _fill(backbone, tensors, model_dir)
        backbone.model.requires_grad_(False)
        readout = load_readout(config, feature_width(backbone.width, config.features), tensors, model_dir)
        readout.to(backbone.device)
        return cls(reader, trained_judges(readout, manifest), manifest=manifest, readout=readout, long=long)

    @classmethod
    def for_base(
        cls, name_or_path: str, device: str | None = None, *, long: Long = "null", share_prefix: ShareChoice = "auto"
    ) -> "Scorer":
        """A scorer that needs no labels: the backbone's probability of the step's least likely token."""
        reader = LocalReader(load_backbone(name_or_path, device=device), ("statistics",), share_prefix=share_prefix)
        return cls(reader, Judges(judge_by_surprise), long=long)

    @property
    def local(self) -> LocalReader:
        """The reader of a backbone in this process; raises ScoringError for a backbone on a server."""
        if not isinstance(self.reader, LocalReader):
            raise ScoringError(Message("backbone_not_in_process"))
        return self.reader

    @property
    def backbone(self) -> Backbone:
        """The backbone in this process; raises ScoringError for a backbone on a server."""
        return self.local.backbone

    @property
    def features(self) -> Sequence[Feature]:
        """The step features that the judges read."""
        return self.local.features

    def session(self, problem: str) -> Session:
        """Start a solution that is scored step by step while it grows."""
        return Session(self.local, self.judges, problem, self.long, self._familiarity)

    def score(
        self,
        traces: Iterable[Trace],
        *,
        on_progress: Callable[[Throughput], None] | None = None,
        embed: bool = False,
    ) -> Iterator[TraceScore]:
        """Stream scores in the order of `traces`, reading a few hundred ahead.

        `embed` also fills each score's `embedding`, which a zero-label scorer does not have. `on_progress` is called
        with the totals at most four times per second, and after every few hundred traces; it may raise to stop.
        """
        watch = _Watch(on_progress, self.reader)
        source = iter(traces)
        while chunk := list(islice(source, CHUNK)):
            for score in self._score(chunk, watch, self._embedder if embed else None):
                watch.total.add(score)
                yield score
            watch.report()

    def _score(self, chunk: Sequence[Trace], watch: "_Watch", embedder: Embedder | None) -> Iterator[TraceScore]:
        reader = self.reader
        pieces = tokenise(chunk, reader.tokenizer)
        plans = [windows(each, reader.layout, reader.context, self.long) for each in pieces]
        flat = [window for plan in plans for window in plan]
        rows: list[Tensor] = [torch.empty(0)] * len(flat)
        for index, scores in reader.read([window.encoded for window in flat]):
            rows[index] = scores[flat[index].skipped :]
            watch.read(len(flat[index].encoded.ids), len(rows[index]))
        windowed = [window.start > 0 for window, scores in zip(flat, rows, strict=True) for _ in scores]
        steps = iter(self.judges.step_scores(torch.cat(rows), windowed) if rows else [])
        features = iter(rows)
        for trace, plan in zip(chunk, plans, strict=True):
            score = TraceScore.of_steps(trace.id, _place(plan, steps, len(trace.steps)))
            own = [next(features) for _ in plan]
            if own and embedder is not None:
                score.embedding = embedder.embed(torch.cat(own))
            if own and self._familiarity is not None:
                score.distance = self._familiarity.distance(self._familiarity.marks(torch.cat(own)))
            yield score


class _Watch:
    """Counts tokens and steps, and reports the totals at intervals."""

    def __init__(self, on_progress: Callable[[Throughput], None] | None, reader: Reader) -> None:
        self.on_progress = on_progress
        self.device = reader.backbone.device if isinstance(reader, LocalReader) else torch.device("cpu")
        self.total = Throughput()
        self.started = self.reported_at = time.monotonic()

    def read(self, tokens: int, steps: int) -> None:
        self.total.tokens += tokens
        self.total.steps += steps
        if time.monotonic() - self.reported_at > REPORT_SECONDS:
            self.report()

    def report(self) -> None:
        self.reported_at = time.monotonic()
        self.total.seconds = self.reported_at - self.started
        if self.device.type == "cuda":
            self.total.peak_bytes = torch.cuda.max_memory_allocated(self.device)
        else:
            self.total.peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if self.on_progress:
            self.on_progress(self.total)


def _place(plan: Sequence[Window], scores: Iterator[StepScore], n_steps: int) -> list[StepScore]:
    """The scores of a plan's windows, each at its step's position."""
    steps = [UNSCORED] * n_steps
    for window in plan:
        for position in range(window.first, window.start + len(window.encoded.spans)):
            steps[position] = next(scores)
    return steps


def _fill(backbone: Backbone, tensors: dict[str, Tensor], model_dir: Path) -> None:
    """Copy the tuned parameters to the backbone."""
    try:
        with torch.no_grad():
            for name, parameter in tunable_parameters(backbone).items():
                parameter.copy_(tensors[BACKBONE + name])
    except (KeyError, RuntimeError) as error:
        raise ModelFileError(Message("weights_differ", model_dir=model_dir, error=error)) from error
