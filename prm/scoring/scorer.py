"""Score the steps of solutions: with a trained model, or with no labels at all."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from prm.backbones import Backbone, load_backbone
from prm.checkpoint import BACKBONE, load_model
from prm.config import Feature
from prm.encoding import encode
from prm.errors import ModelFileError
from prm.features import STATISTICS, compute_features, feature_width, row_offsets
from prm.heads import Readout
from prm.manifest import Manifest
from prm.scores import TraceScore
from prm.traces import Trace
from prm.tuning import prepare_tuning, tunable_parameters

CHUNK = 256  # traces read ahead, so that batches hold near lengths
ZERO_LABEL_STATISTIC = STATISTICS.index("surprisal_max")
Probabilities = NDArray[np.float64]


class Scorer:
    """p(step is good | good prefix) for every step of every trace, in one forward pass a trace.

    `judge` maps step features [steps, width] to probabilities [heads, steps]; `features` says which it reads.
    `judge_outcome` maps those of last steps to p(final answer right) likewise; None where that was not learned.
    `threshold` is where a score counts as an error; `manifest` and `readout`, the ensembles behind `judge`, are
    None for a zero-label scorer.
    """

    def __init__(
        self,
        backbone: Backbone,
        judge: Callable[[Tensor], Probabilities],
        *,
        features: Sequence[Feature],
        judge_outcome: Callable[[Tensor], Probabilities] | None = None,
        manifest: Manifest | None = None,
        readout: Readout | None = None,
        threshold: float = 0.5,
        token_budget: int = 8192,
    ) -> None:
        self.backbone, self.judge, self.features = backbone, judge, features
        self.judge_outcome = judge_outcome
        self.manifest, self.readout = manifest, readout
        self.threshold, self.token_budget = threshold, token_budget

    @classmethod
    def load(cls, model_dir: Path, device: str | None = None) -> "Scorer":
        """Load a trained model; raises ModelFileError where its files or its backbone are not the trained ones."""
        manifest, tensors = load_model(model_dir)
        config = manifest.config
        backbone = load_backbone(manifest.base, device=device, context=config.context)
        if backbone.sha256 != manifest.base_sha256:
            raise ModelFileError(f"{model_dir} was trained on another {manifest.base!r} than the one found here")
        prepare_tuning(backbone, config)
        readout = Readout(config, feature_width(backbone, config.features))
        try:
            _fill(tunable_parameters(backbone), tensors, BACKBONE)
            readout.load_state_dict({n: t for n, t in tensors.items() if not n.startswith(BACKBONE)})
        except (KeyError, RuntimeError) as error:
            raise ModelFileError(f"{model_dir} holds other weights than its manifest says: {error}") from error
        readout.to(backbone.device).eval()
        backbone.model.requires_grad_(False)

        def probabilities(logits: Tensor, temperature: float) -> Probabilities:
            return torch.sigmoid(logits.double() / temperature).cpu().numpy()

        def judge(rows: Tensor) -> Probabilities:
            with torch.no_grad():
                return probabilities(readout.step_logits(rows.to(backbone.device)), manifest.temperature)

        def judge_outcome(rows: Tensor) -> Probabilities:
            with torch.no_grad():
                return probabilities(readout.outcome_logits(rows.to(backbone.device)), manifest.outcome_temperature)

        return cls(
            backbone,
            judge,
            features=config.features,
            judge_outcome=judge_outcome if readout.outcome is not None else None,
            manifest=manifest,
            readout=readout,
            threshold=manifest.threshold,
            token_budget=config.token_budget,
        )

    @classmethod
    def for_base(cls, name_or_path: str, device: str | None = None) -> "Scorer":
        """A scorer that needs no labels: the probability a backbone gave to the step's least likely token."""

        def judge(rows: Tensor) -> Probabilities:
            return np.exp(-rows.double().numpy()[None, :, ZERO_LABEL_STATISTIC])

        return cls(load_backbone(name_or_path, device=device), judge, features=("statistics",))

    def score(self, traces: Iterable[Trace]) -> Iterator[TraceScore]:
        """Stream scores in the order of `traces`, reading a few hundred ahead."""
        source = iter(traces)
        while chunk := list(islice(source, CHUNK)):
            backbone = self.backbone
            encoded = encode(chunk, backbone.tokenizer, backbone.layout, backbone.context)
            rows = compute_features(backbone, encoded, self.token_budget, self.features)
            offsets = row_offsets(encoded)
            ended = [index for index, item in enumerate(encoded) if item.spans and len(item.spans) == item.n_steps]
            outcomes = self._outcomes(rows, [offsets[index + 1] - 1 for index in ended])
            p, outcome = self.judge(rows), dict(zip(ended, outcomes, strict=True))
            for index, trace in enumerate(chunk):
                yield _trace_score(trace, p[:, offsets[index] : offsets[index + 1]], outcome.get(index))

    def _outcomes(self, rows: Tensor, last: list[int]) -> list[float] | list[None]:
        """p(final answer right) read at the rows of last steps."""
        if self.judge_outcome is None:
            return [None] * len(last)
        found: list[float] = self.judge_outcome(rows[last]).mean(axis=0).tolist()
        return found


def _trace_score(trace: Trace, p: Probabilities, outcome: float | None) -> TraceScore:
    """`p` is [heads, scored steps]; the steps after them are None."""
    unscored = [None] * (len(trace.steps) - p.shape[1])
    mean = p.mean(axis=0).tolist()
    spread = p.std(axis=0).tolist() if len(p) > 1 else [None] * len(mean)
    return TraceScore(
        id=trace.id,
        heads=[*p.T.tolist(), *unscored],
        mean=[*mean, *unscored],
        spread=[*spread, *unscored],
        solution=float(np.prod(mean)) if mean else None,
        outcome=outcome,
    )


def _fill(parameters: dict[str, torch.nn.Parameter], tensors: dict[str, Tensor], prefix: str) -> None:
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[prefix + name])
