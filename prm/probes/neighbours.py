"""Explains a step's score by the nearest labelled training steps in the model's own representation.

It also shows which features moved the score, and which heads disagree.

A step's place is the activation of each hidden unit of each head, scaled by the unit's influence on the score and
projected on fixed random axes (Johnson and Lindenstrauss 1984). On the sandbox, labels near a place agree with the
score better than among standardised features or in the heads' first layer (research/probes.md).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec
import torch
from torch import Tensor
from torch.nn.functional import gelu

from prm.checkpoint import load_state, save_state
from prm.config import FEATURES
from prm.encoding import encode
from prm.errors import DataError, ModelFileError
from prm.features import STATISTICS, UNREAD, compute_features, feature_width
from prm.heads import Heads
from prm.labels import step_labels
from prm.manifest import WEIGHTS_FILE, file_sha256
from prm.messages import Message
from prm.scoring import Scorer
from prm.traces import Step, StepLabel, Trace
from prm.training.dataset import read_to_fit

FILE = "neighbours.safetensors"
AXES = 64
CHUNK = 512  # traces processed together
BLOCK = 65_536  # places compared at once


class Neighbour(msgspec.Struct, frozen=True):
    """A labelled training step at `distance` from the explained one; 0 for the same step after the same prefix."""

    distance: float
    label: StepLabel
    trace_id: str
    position: int
    problem: str
    step: Step


class Origin(msgspec.Struct, frozen=True):
    """The weights behind the places, and the file with the steps."""

    weights_sha256: str
    training: str
    training_sha256: str


class Neighbours:
    """Places of labelled steps [steps, AXES] in half precision, with labels and references.

    `labels` [steps, 4] are good, neutral, bad and weight; `rows` [steps, 2] are the indices of the trace in the
    training file and of the step in the trace.
    """

    def __init__(self, origin: Origin, places: Tensor, labels: Tensor, rows: Tensor) -> None:
        self.origin, self.places, self.labels, self.rows = origin, places, labels, rows

    @classmethod
    def build(cls, scorer: Scorer, training: Path) -> "Neighbours":
        """The places of every labelled step in a file's pool; raises DataError if there is none."""
        places: list[Tensor] = []
        labels: list[tuple[float, ...]] = []
        rows: list[tuple[int, int]] = []
        pool = (
            (number, trace)
            for number, trace in enumerate(read_to_fit(training))
            if trace.split == "pool" and any(step_labels(trace))
        )
        while chunk := list(islice(pool, CHUNK)):
            features = step_features_of(scorer, [trace for _, trace in chunk])
            for (number, trace), steps in zip(chunk, features, strict=True):
                placed = places_of(scorer, steps)
                for position, label in enumerate(step_labels(trace)[: len(placed)]):
                    if label is not None:
                        places.append(placed[position])
                        labels.append((label.good, label.neutral, label.bad, label.weight))
                        rows.append((number, position))
        if not places:
            raise DataError(Message("no_labelled_step_in_file", training=training))
        origin = Origin(_weights_of(scorer), str(training.resolve()), file_sha256(training))
        return cls(origin, torch.stack(places).half(), torch.tensor(labels), torch.tensor(rows))

    def save(self, path: Path) -> None:
        """Write places, labels and references (about 160 bytes per step), atomically."""
        save_state(path, {"places": self.places, "labels": self.labels, "rows": self.rows}, self.origin)

    @classmethod
    def load(cls, path: Path, scorer: Scorer) -> "Neighbours":
        """Read a saved index; raises ModelFileError if it is of other weights or its training file has changed."""
        origin, tensors = load_state(path, Origin)
        if origin.weights_sha256 != _weights_of(scorer):
            raise ModelFileError(Message("index_of_other_weights", path=path))
        training = Path(origin.training)
        if not training.is_file() or file_sha256(training) != origin.training_sha256:
            raise ModelFileError(Message("training_file_changed", path=path, training=training))
        return cls(origin, tensors["places"], tensors["labels"], tensors["rows"])

    def nearest(self, places: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Distances and indices of the k nearest of each of `places` [queries, AXES], nearest first; exact."""
        distances, indices = torch.zeros(len(places), 0), torch.zeros(len(places), 0, dtype=torch.long)
        for start in range(0, len(self.places), BLOCK):
            block = self.places[start : start + BLOCK].float()
            block_distances = torch.cdist(places, block, compute_mode="donot_use_mm_for_euclid_dist")
            distances = torch.cat([distances, block_distances], dim=1)
            indices = torch.cat([indices, torch.arange(start, start + len(block)).expand(len(places), -1)], dim=1)
            distances, order = distances.topk(min(k, distances.shape[1]), dim=1, largest=False)
            indices = indices.gather(1, order)
        return distances, indices

    def describe(self, distances: Tensor, indices: Tensor) -> list[list[Neighbour]]:
        """The neighbours that `nearest` returned, with their texts, in one pass over the training file."""
        wanted = {int(self.rows[i, 0]) for i in indices.flatten()}
        traces = {n: t for n, t in enumerate(read_to_fit(Path(self.origin.training))) if n in wanted}
        return [
            [self._neighbour(int(i), float(distance), traces) for distance, i in zip(*pair, strict=True)]
            for pair in zip(distances, indices, strict=True)
        ]

    def good_shares(self, indices: Tensor) -> Tensor:
        """The weighted share of neighbours without an error, [queries]; neutral is not an error."""
        labels = self.labels[indices]
        return ((labels[..., 0] + labels[..., 1]) * labels[..., 3]).sum(1) / labels[..., 3].sum(1).clamp(min=1e-9)

    def _neighbour(self, index: int, distance: float, traces: dict[int, Trace]) -> Neighbour:
        number, position = (int(value) for value in self.rows[index])
        good, neutral, bad, weight = self.labels[index].double().tolist()
        total = good + neutral + bad  # not quite 1 in single precision
        label = StepLabel(good / total, neutral / total, bad / total, weight)
        trace = traces[number]
        return Neighbour(distance, label, trace.id, position, trace.problem, trace.steps[position])


def step_features_of(scorer: Scorer, traces: Sequence[Trace]) -> list[Tensor]:
    """Features of the steps of each trace that fit the context, [steps, width] each."""
    backbone = scorer.backbone
    encoded = encode(traces, backbone.tokenizer, backbone.layout, backbone.context)
    rows = compute_features(backbone, encoded, scorer.local.token_budget, scorer.features)
    return list(rows.split([len(item.spans) for item in encoded]))


def places_of(scorer: Scorer, rows: Tensor) -> Tensor:
    """Features [steps, width] to places [steps, AXES], rounded as in the stored index."""
    heads = ensemble_of(scorer)
    rows = heads.standard(rows.to(heads.centre.device))
    with torch.no_grad():
        hidden = gelu(torch.baddbmm(heads.enter_bias, rows.expand(len(heads.enter), -1, -1), heads.enter))
        moved = (hidden * _leverage(heads)[:, None]).transpose(0, 1).flatten(1).cpu()
    axes = torch.randn(moved.shape[1], AXES, generator=torch.Generator().manual_seed(0)) * AXES**-0.5
    return (moved @ axes).half().float()


def ensemble_of(scorer: Scorer) -> Heads:
    """The heads behind a trained scorer's step scores; raises ModelFileError for one without labels."""
    readout = scorer.readout
    heads = None if readout is None else readout.heads or readout.outcome
    if heads is None:
        raise ModelFileError(Message("no_heads_to_explain"))
    return heads


def agreement(shares: Iterable[float], scores: Iterable[float]) -> float | None:
    """Pearson correlation of neighbours' labels with scores; None where either does not vary."""
    pair = torch.tensor([list(shares), list(scores)], dtype=torch.float64)
    if pair.shape[1] < 2 or bool((pair.std(1) == 0).any()):
        return None
    return float(torch.corrcoef(pair)[0, 1])


def _leverage(heads: Heads) -> Tensor:
    """The influence of each hidden unit on the logits, [heads, hidden], except a common shift of all classes."""
    leave = heads.leave.detach()
    return leave.abs().squeeze(2) if leave.shape[2] == 1 else (leave - leave.mean(2, keepdim=True)).norm(dim=2)


def _weights_of(scorer: Scorer) -> str:
    ensemble_of(scorer)
    assert scorer.manifest is not None, "a scorer with heads has a manifest"
    return scorer.manifest.checksums[WEIGHTS_FILE]


POINTS = 32  # of the path integral


class StepView(msgspec.Struct, frozen=True):
    """One step's score explained.

    `heads` are p(good) of each head and `spread` their standard deviation. `moved_by` attributes the difference from an
    average training step to parts of the features, in units of the heads' mean logit: below 0 is towards an error, and
    the parts sum to the difference. `near_good` is the share of neighbours without an error.
    """

    position: int
    step: Step
    score: float
    spread: float
    heads: list[float]
    moved_by: dict[str, float]
    near_good: float
    neighbours: list[Neighbour]


class Explanation(msgspec.Struct, frozen=True):
    """The explained steps of one solution, without those beyond the context."""

    id: str
    problem: str
    steps: list[StepView]


def explain(scorer: Scorer, neighbours: Neighbours, traces: Iterable[Trace], *, k: int = 5) -> Iterator[Explanation]:
    """Explain every step of every trace, in order, a few hundred traces at a time."""
    source = iter(traces)
    while chunk := list(islice(source, CHUNK)):
        features = step_features_of(scorer, chunk)
        rows = torch.cat(features)
        p = scorer.judges.step(rows)
        moved = moved_by(scorer, rows)
        distances, indices = neighbours.nearest(places_of(scorer, rows), k)
        shares = neighbours.good_shares(indices)
        near = neighbours.describe(distances, indices)
        row = 0
        for trace, own in zip(chunk, features, strict=True):
            views = []
            for position in range(len(own)):
                views.append(
                    StepView(
                        position=position,
                        step=trace.steps[position],
                        score=float(p[:, row].mean()),
                        spread=float(p[:, row].std()),
                        heads=p[:, row].tolist(),
                        moved_by={name: float(values[row]) for name, values in moved.items()},
                        near_good=float(shares[row]),
                        neighbours=near[row],
                    )
                )
                row += 1
            yield Explanation(trace.id, trace.problem, views)


def moved_by(scorer: Scorer, rows: Tensor) -> dict[str, Tensor]:
    """Attribution of the heads' mean logit: one value per step for each layer's states and for each statistic.

    Integrated gradients (Sundararajan et al. 2017, equation 1) from the average training step to each of `rows`
    [steps, width].
    """
    heads, readout = ensemble_of(scorer), scorer.readout
    assert readout is not None, "a scorer with heads has a readout"
    rows = rows[:, : len(heads.centre)].to(heads.centre.device)
    way = rows - heads.centre
    total = torch.zeros_like(rows)
    for point in range(POINTS):
        at = (heads.centre + (point + 0.5) / POINTS * way).requires_grad_()
        (gradient,) = torch.autograd.grad(readout.step_logits(at).mean(0).sum(), at)
        total += gradient
    parts = (way * total / POINTS).cpu()
    moves: dict[str, Tensor] = {}
    start = 0
    for feature in FEATURES:
        if feature == "statistics" and feature in scorer.features:
            moves |= {name: parts[:, start + k] for k, name in enumerate(STATISTICS[: -len(UNREAD)])}
        elif feature in scorer.features:
            width = feature_width(scorer.backbone.width, (feature,))
            moves[f"{feature} states"] = parts[:, start : start + width].sum(1)
            start += width
    return moves
