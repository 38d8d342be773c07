"""What the heads see of a step, all of it known once the step is written.

For every step, any of: "middle" and "last", the mean of the step's own tokens' states of a middle and of
the last layer; "separator", the last layer's state at the token that ends the step; "statistics", how the
backbone predicted the step's tokens. One forward pass covers all steps of a solution.

Batches are right-padded: under causal attention no token sees padding, a batch-mate, or later text.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import FEATURES, Feature
from prm.encoding import Encoded, fill_batches

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
LOGIT_ROWS = 4096  # rows of logits held at once: vocabularies reach 150k


def feature_width(backbone: Backbone, features: Sequence[Feature]) -> int:
    """Columns of these features; "statistics", where asked for, are the last len(STATISTICS) of them."""
    return sum(len(STATISTICS) if feature == "statistics" else backbone.width for feature in features)


def step_features(backbone: Backbone, batch: Sequence[Encoded], features: Sequence[Feature]) -> Tensor:
    """Features of every step of a batch in one forward pass: [steps, width], float32, in batch order.

    Columns stand in the order of `FEATURES`, however they were asked for. Gradients flow through the
    states; the statistics are detached, for they are measurements of the text and no target of tuning.
    """
    ids, mask = _pad(batch, backbone.device)
    wants_middle = "middle" in features
    output = backbone.model.get_decoder()(
        input_ids=ids, attention_mask=mask, use_cache=False, output_hidden_states=wants_middle
    )
    last = output.last_hidden_state
    positions, inside = _step_positions(batch, ids.shape[1], backbone.device)

    def block(feature: Feature) -> Tensor:
        match feature:
            case "middle":
                return _pool(output.hidden_states[len(output.hidden_states) // 2], positions, inside)
            case "last":
                return _pool(last, positions, inside)
            case "separator":
                return _rows(last, positions.gather(1, inside.sum(1, keepdim=True) - 1).squeeze(1)).float()
            case "statistics":
                return _statistics(backbone, last, ids, positions, inside, [len(e.spans) for e in batch])

    return torch.cat([block(feature) for feature in FEATURES if feature in features], dim=1)


def compute_features(
    backbone: Backbone,
    encoded: Sequence[Encoded],
    token_budget: int,
    features: Sequence[Feature],
    after_batch: Callable[[int], None] | None = None,
) -> Tensor:
    """Features of every step in trace order, [steps, width], float32 on the CPU.

    `after_batch` hears how many traces are done and may raise to stop.
    """
    offsets = row_offsets(encoded)
    found = torch.zeros(offsets[-1], feature_width(backbone, features))
    done = 0
    with torch.no_grad():
        for batch in fill_batches([len(e.ids) for e in encoded], token_budget):
            found[rows_of(batch, offsets)] = step_features(backbone, [encoded[i] for i in batch], features).cpu()
            done += len(batch)
            if after_batch:
                after_batch(done)
    return found


def row_offsets(encoded: Sequence[Encoded]) -> list[int]:
    """Where each trace's rows begin, and at the end how many there are."""
    offsets = [0]
    for item in encoded:
        offsets.append(offsets[-1] + len(item.spans))
    return offsets


def rows_of(batch: list[int], offsets: list[int]) -> list[int]:
    """Rows of the steps of some traces, in batch order."""
    return [row for i in batch for row in range(offsets[i], offsets[i + 1])]


def _pad(batch: Sequence[Encoded], device: torch.device) -> tuple[Tensor, Tensor]:
    longest = max(len(encoded.ids) for encoded in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros(len(batch), longest, dtype=torch.long)
    for row, encoded in enumerate(batch):
        ids[row, : len(encoded.ids)] = torch.tensor(encoded.ids)
        mask[row, : len(encoded.ids)] = 1
    return ids.to(device), mask.to(device)


def _step_positions(batch: Sequence[Encoded], width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Flat positions of each step's tokens [steps, longest step], and which of them are real."""
    spans = [(row * width + start, row * width + end) for row, e in enumerate(batch) for start, end in e.spans]
    starts, ends = torch.tensor(spans, device=device).T.unsqueeze(2)
    positions = starts + torch.arange(int((ends - starts).max()), device=device)
    inside = positions < ends
    return torch.where(inside, positions, starts), inside


def _rows(states: Tensor, flat: Tensor) -> Tensor:
    return states.flatten(0, 1)[flat]


def _pool(states: Tensor, positions: Tensor, inside: Tensor) -> Tensor:
    """Mean over a step's tokens; index_add keeps memory at one state a token, however uneven the steps."""
    step_of = torch.arange(len(positions), device=states.device)[:, None].expand_as(positions)[inside]
    sums = states.new_zeros(len(positions), states.shape[-1], dtype=torch.float32)
    sums = sums.index_add(0, step_of, _rows(states, positions[inside]).float())
    return sums / inside.sum(1, keepdim=True)


def _predictions(
    backbone: Backbone, last: Tensor, ids: Tensor, positions: Tensor, inside: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Per token of each step, in nats: surprisal, entropy of its prediction, and how far it fell behind the favourite.

    A token is predicted from the state before it, so all three are known once it is written.
    """
    flat = positions[inside]
    head = backbone.model.get_output_embeddings()
    cap = getattr(backbone.model.config, "final_logit_softcapping", None)
    found: list[Tensor] = []
    for chunk in flat.split(LOGIT_ROWS):
        logits = head(_rows(last, chunk - 1)).float()
        if cap:
            logits = torch.tanh(logits / cap) * cap
        log_p = logits.log_softmax(1)
        own = log_p.gather(1, ids.flatten()[chunk, None]).squeeze(1)
        found.append(torch.stack([-own, -(log_p.exp() * log_p).sum(1), log_p.amax(1) - own]))
    tokens = last.new_zeros(3, *positions.shape, dtype=torch.float32)
    tokens[:, inside] = torch.cat(found, dim=1)
    return tokens[0], tokens[1], tokens[2]


@torch.no_grad()
def _statistics(
    backbone: Backbone, last: Tensor, ids: Tensor, positions: Tensor, inside: Tensor, steps_per_trace: list[int]
) -> Tensor:
    """[steps, len(STATISTICS)]; "excess" is surprisal above entropy, "rise" is above the trace's earlier steps."""
    surprisal, entropy, gap = _predictions(backbone, last, ids, positions, inside)
    length = inside.sum(1)
    place = torch.arange(inside.shape[1], device=inside.device)
    content = place < (length - len(backbone.layout.step_end))[:, None]
    separator = inside & ~content
    excess = surprisal - entropy
    mean = _mean(surprisal, content)
    top = surprisal.masked_fill(~content, 0).topk(min(2, surprisal.shape[1]), dim=1).values
    second = top[:, -1]
    earlier = _running_mean(torch.stack([mean, top[:, 0]], dim=1), steps_per_trace)
    columns = (
        mean,
        top[:, 0],
        second,
        _mean((surprisal - mean[:, None]) ** 2, content).sqrt(),  # not E[x^2] - E[x]^2, which rounding ruins
        _mean(excess, content),
        _max(excess, content),
        _mean(entropy, content),
        _max(entropy, content),
        _mean(gap, content),
        _max(gap, content),
        _mean(surprisal, separator),
        _mean(entropy, separator),
        mean - earlier[:, 0],
        top[:, 0] - earlier[:, 1],
        length.float().log(),
    )
    return torch.stack(columns, dim=1)


def _mean(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum(1) / where.sum(1).clamp(min=1)


def _max(values: Tensor, where: Tensor) -> Tensor:
    """Zero where a step has no token of its own."""
    return torch.where(where.any(1), values.masked_fill(~where, -torch.inf).amax(1), 0.0)


def _running_mean(values: Tensor, steps_per_trace: list[int]) -> Tensor:
    """Mean over the earlier steps of the same trace; a first step stands beside itself."""
    parts = []
    for trace in values.split(steps_per_trace):
        count = torch.arange(1, len(trace), device=values.device)[:, None]
        parts += [trace[:1], trace.cumsum(0)[:-1] / count]
    return torch.cat(parts)
