"""The features of a step, which are the heads' inputs and depend on no later step.

Any of: "middle" and "last", the mean state of the step's own tokens in a middle and in the last layer; "separator", the
last layer's state at the token that ends the step; "statistics", the backbone's predictions of the step's tokens. One
forward pass covers all steps of a solution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import FEATURES, Feature
from prm.encoding import Encoded
from prm.packing import fill_batches, pack, pad

STATISTICS = (
    "surprisal_mean",
    "surprisal_max",
    "surprisal_second",
    "surprisal_std",
    "excess_mean",
    "excess_max",
    "entropy_mean",
    "entropy_max",
    "gap_mean",
    "gap_max",
    "separator_surprisal",
    "separator_entropy",
    "rise_mean",
    "rise_max",
    "log_length",
)
MEAN_AND_MAX = [STATISTICS.index("surprisal_mean"), STATISTICS.index("surprisal_max")]
LOGIT_CELLS = 1 << 26  # logits held at once, 256 MB: vocabularies reach 150k


def feature_width(backbone: Backbone, features: Sequence[Feature]) -> int:
    """The number of columns of these features; "statistics" are the last len(STATISTICS) of them."""
    return sum(len(STATISTICS) if feature == "statistics" else backbone.width for feature in features)


@dataclass(frozen=True)
class Reading:
    """The flattened tokens and states of a forward pass.

    `last` and, if requested, `middle` are the layers' states [tokens, width]; `ids` are [tokens], and `before` [tokens]
    is the row of the preceding token, whose state predicts this one.
    """

    ids: Tensor
    before: Tensor
    last: Tensor
    middle: Tensor | None


def step_features(backbone: Backbone, batch: Sequence[Encoded], features: Sequence[Feature]) -> Tensor:
    """Features of every step of a batch in one forward pass: [steps, width], float32, in batch order.

    Columns are in the order of `FEATURES`. Gradients flow through the states; the statistics are detached, since they
    are measurements of the text.
    """
    laid = (pack if backbone.packed else pad)([encoded.ids for encoded in batch], backbone.device)
    last, middle = decode(backbone, features, use_cache=False, **laid.inputs)
    ids = laid.inputs["input_ids"].flatten()
    reading = Reading(
        ids,
        torch.arange(len(ids), device=ids.device) - 1,
        last.flatten(0, 1),
        None if middle is None else middle.flatten(0, 1),
    )
    spans = [
        (at + start, at + end) for at, encoded in zip(laid.starts, batch, strict=True) for start, end in encoded.spans
    ]
    return describe_steps(backbone, reading, spans, [len(encoded.spans) for encoded in batch], features)


def decode(backbone: Backbone, features: Sequence[Feature], **inputs: Any) -> tuple[Tensor, Tensor | None]:
    """Run the decoder: states of the last and, if a feature needs it, a middle layer, each [rows, tokens, width]."""
    with backbone.autocast():
        output = backbone.model.get_decoder()(output_hidden_states="middle" in features, **inputs)
    middle = output.hidden_states[len(output.hidden_states) // 2] if "middle" in features else None
    return output.last_hidden_state, middle


def describe_steps(
    backbone: Backbone | None,
    reading: Reading,
    spans: Sequence[tuple[int, int]],
    steps_per_trace: Sequence[int],
    features: Sequence[Feature],
    earlier: Sequence[Tensor] | None = None,
) -> Tensor:
    """Features of the steps at `spans`, rows of the reading: [steps, width].

    Only "statistics" need the backbone. `earlier` has the statistics [steps, len(STATISTICS)] of each trace's earlier
    steps.
    """
    positions, inside = _step_positions(spans, reading.ids.device)

    def block(feature: Feature) -> Tensor:
        match feature:
            case "middle":
                assert reading.middle is not None, "the middle layer was asked for when reading"
                return _pool(reading.middle, positions, inside)
            case "last":
                return _pool(reading.last, positions, inside)
            case "separator":
                return reading.last[positions.gather(1, inside.sum(1, keepdim=True) - 1).squeeze(1)].float()
            case "statistics":
                assert backbone is not None, "statistics are computed by the backbone's output layer"
                return _statistics(backbone, reading, positions, inside, steps_per_trace, earlier)

    return torch.cat([block(feature) for feature in FEATURES if feature in features], dim=1)


def compute_features(
    backbone: Backbone,
    encoded: Sequence[Encoded],
    token_budget: int,
    features: Sequence[Feature],
    after_batch: Callable[[int], None] | None = None,
) -> Tensor:
    """Features of every step in trace order, [steps, width], float32 on the CPU.

    `after_batch` is called with the number of finished traces and may raise to stop.
    """
    offsets = row_offsets(encoded)
    rows = torch.zeros(offsets[-1], feature_width(backbone, features))
    done = 0
    with torch.no_grad():
        for batch in fill_batches([len(e.ids) for e in encoded], token_budget, packed=backbone.packed):
            rows[rows_of(batch, offsets)] = step_features(backbone, [encoded[i] for i in batch], features).cpu()
            done += len(batch)
            if after_batch:
                after_batch(done)
    return rows


def row_offsets(encoded: Sequence[Encoded]) -> list[int]:
    """The first row of each trace, and last the number of rows."""
    offsets = [0]
    for item in encoded:
        offsets.append(offsets[-1] + len(item.spans))
    return offsets


def rows_of(batch: list[int], offsets: list[int]) -> list[int]:
    """The rows of the steps of these traces, in batch order."""
    return [row for i in batch for row in range(offsets[i], offsets[i + 1])]


def _step_positions(spans: Sequence[tuple[int, int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Rows of each step's tokens [steps, longest step], and which of them are real."""
    starts, ends = torch.tensor(spans, device=device).T.unsqueeze(2)
    positions = starts + torch.arange(int((ends - starts).max()), device=device)
    inside = positions < ends
    return torch.where(inside, positions, starts), inside


def _pool(states: Tensor, positions: Tensor, inside: Tensor) -> Tensor:
    """Mean over a step's tokens; `index_add` needs memory for one state per token, however uneven the steps."""
    step_of = torch.arange(len(positions), device=states.device)[:, None].expand_as(positions)[inside]
    sums = states.new_zeros(len(positions), states.shape[-1], dtype=torch.float32)
    sums = sums.index_add(0, step_of, states[positions[inside]].float())
    return sums / inside.sum(1, keepdim=True)


def _predictions(
    backbone: Backbone, reading: Reading, positions: Tensor, inside: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Per token of each step, in nats: surprisal, entropy of its prediction, and gap to the most probable token.

    A token is predicted from the state before it, so none of them depends on later tokens.
    """
    flat = positions[inside]
    rows: list[Tensor] = []
    for chunk in flat.split(max(1, LOGIT_CELLS // backbone.vocabulary)):
        log_p = backbone.logits(reading.last[reading.before[chunk]]).log_softmax(1)
        own = log_p.gather(1, reading.ids[chunk, None]).squeeze(1)
        rows.append(torch.stack([-own, -(log_p.exp() * log_p).sum(1), log_p.amax(1) - own]))
    tokens = reading.last.new_zeros(3, *positions.shape, dtype=torch.float32)
    tokens[:, inside] = torch.cat(rows, dim=1)
    return tokens[0], tokens[1], tokens[2]


@torch.no_grad()
def _statistics(
    backbone: Backbone,
    reading: Reading,
    positions: Tensor,
    inside: Tensor,
    steps_per_trace: Sequence[int],
    earlier: Sequence[Tensor] | None,
) -> Tensor:
    """[steps, len(STATISTICS)]: "excess" is surprisal minus entropy, "rise" compares with earlier steps."""
    surprisal, entropy, gap = _predictions(backbone, reading, positions, inside)
    length = inside.sum(1)
    place = torch.arange(inside.shape[1], device=inside.device)
    content = place < (length - len(backbone.layout.step_end))[:, None]
    separator = inside & ~content
    excess = surprisal - entropy
    mean = _mean(surprisal, content)
    top = surprisal.masked_fill(~content, 0).topk(min(2, surprisal.shape[1]), dim=1).values
    second = top[:, -1]
    usual = _usual(torch.stack([mean, top[:, 0]], dim=1), steps_per_trace, earlier)
    columns = (
        mean,
        top[:, 0],
        second,
        _mean((surprisal - mean[:, None]) ** 2, content).sqrt(),  # E[x^2] - E[x]^2 would lose precision
        _mean(excess, content),
        _max(excess, content),
        _mean(entropy, content),
        _max(entropy, content),
        _mean(gap, content),
        _max(gap, content),
        _mean(surprisal, separator),
        _mean(entropy, separator),
        mean - usual[:, 0],
        top[:, 0] - usual[:, 1],
        length.float().log(),
    )
    return torch.stack(columns, dim=1)


def _mean(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum(1) / where.sum(1).clamp(min=1)


def _max(values: Tensor, where: Tensor) -> Tensor:
    """The maximum by step, 0 for a step without tokens of its own."""
    return torch.where(where.any(1), values.masked_fill(~where, -torch.inf).amax(1), 0.0)


def _usual(values: Tensor, steps_per_trace: Sequence[int], earlier: Sequence[Tensor] | None) -> Tensor:
    """Mean of surprisal's mean and max [steps, 2] over the trace's earlier steps; for a first step, its own values."""
    parts = []
    for index, trace in enumerate(values.split(list(steps_per_trace))):
        if not len(trace):
            continue
        before = values.new_zeros(0, 2) if earlier is None else earlier[index][:, MEAN_AND_MAX].to(values)
        whole = torch.cat([before, trace])
        count = torch.arange(1, len(whole), device=values.device)[:, None]
        parts.append(torch.cat([whole[:1], whole.cumsum(0)[:-1] / count])[len(before) :])
    return torch.cat(parts)


@torch.no_grad()
def last_states(backbone: Backbone, texts: Sequence[Sequence[int]], token_budget: int) -> list[bytes]:
    """The last layer's states [tokens, width] of each text, as bytes of little-endian float32."""
    states = [b""] * len(texts)
    lengths = [len(text) for text in texts]
    filled = [index for index, length in enumerate(lengths) if length]
    for batch in fill_batches([lengths[index] for index in filled], token_budget, packed=backbone.packed):
        chosen = [filled[index] for index in batch]
        laid = (pack if backbone.packed else pad)([tuple(texts[index]) for index in chosen], backbone.device)
        last, _ = decode(backbone, ("last",), use_cache=False, **laid.inputs)
        rows = last.flatten(0, 1).float().cpu().numpy().astype("<f4")
        for start, index in zip(laid.starts, chosen, strict=True):
            states[index] = np.ascontiguousarray(rows[start : start + lengths[index]]).tobytes()
    return states
