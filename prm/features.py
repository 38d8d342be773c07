"""The features of a step, which are the heads' inputs and depend on no later step.

Any of: "middle" and "last", the mean state of the step's own tokens in a middle and in the last layer; "numbers", both
means over its number tokens alone; "separator", the last layer's state at the token that ends the step; "statistics",
the backbone's predictions of the step's numbers and signs. One forward pass covers all steps of a solution.

Words can change without harm, and a model of their states and surprisal rejects steps that are only worded differently.
Numbers and signs carry the result. Layout and the order of operands do not (`prm.notation`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import FEATURES, Feature
from prm.encoding import Encoded, Layout
from prm.notation import NUMBER, SIGN, read_notation
from prm.packing import fill_batches, pack, pad

MEASURES = (
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
)
CLASSES = {"number": NUMBER, "sign": SIGN}
UNREAD = ("surprisal_mean", "surprisal_max")  # of all tokens: not for the heads, since new wording moves them
STATISTICS = (*(f"{name}_{measure}" for name in CLASSES for measure in MEASURES), *UNREAD)
MOST_OPERANDS = 16  # of one sum or product that may change places: their pairs are read
LOGIT_CELLS = 1 << 26  # logits held at once, 256 MB: vocabularies reach 150k


def feature_width(width: int, features: Sequence[Feature]) -> int:
    """The number of columns of these features of states of this width; "statistics" are the last of them."""
    widths = {"numbers": 2 * width, "statistics": len(STATISTICS)}
    return sum(widths.get(feature, width) for feature in features)


def heads_width(width: int, features: Sequence[Feature]) -> int:
    """How many of `width` columns of these features the heads read: all but the last, UNREAD ones."""
    return width - ("statistics" in features) * len(UNREAD)


class Predictor(Protocol):
    """What "numbers" and "statistics" need besides the states: the part of a backbone that knows the vocabulary."""

    @property
    def layout(self) -> Layout: ...
    @property
    def token_texts(self) -> list[str]: ...
    @property
    def vocabulary(self) -> int: ...
    def logits(self, states: Tensor) -> Tensor: ...


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
    return describe_steps(backbone, reading, spans, features)


def decode(backbone: Backbone, features: Sequence[Feature], **inputs: Any) -> tuple[Tensor, Tensor | None]:
    """Run the decoder: states of the last and, if a feature needs it, a middle layer, each [rows, tokens, width]."""
    wanted = "middle" in features or "numbers" in features
    with backbone.autocast():
        output = backbone.model.get_decoder()(output_hidden_states=wanted, **inputs)
    middle = output.hidden_states[len(output.hidden_states) // 2] if wanted else None
    return output.last_hidden_state, middle


def describe_steps(
    backbone: Predictor | None, reading: Reading, spans: Sequence[tuple[int, int]], features: Sequence[Feature]
) -> Tensor:
    """Features of the steps at `spans`, rows of the reading: [steps, width].

    Only "numbers" and "statistics" need the backbone.
    """
    positions, inside = _step_positions(spans, reading.ids.device)
    marks = None
    if backbone is not None and ("numbers" in features or "statistics" in features):
        marks = _mark_tokens(backbone, reading, spans, positions.shape[1])

    def block(feature: Feature) -> Tensor:
        match feature:
            case "middle":
                assert reading.middle is not None, "the middle layer was asked for when reading"
                return _pool(reading.middle, positions, inside)
            case "last":
                return _pool(reading.last, positions, inside)
            case "numbers":
                assert marks is not None, "numbers are known by the backbone's tokenizer"
                assert reading.middle is not None, "the middle layer was asked for when reading"
                numbers = marks.classes == NUMBER
                return torch.cat([_pool(layer, positions, numbers) for layer in (reading.middle, reading.last)], dim=1)
            case "separator":
                return reading.last[positions.gather(1, inside.sum(1, keepdim=True) - 1).squeeze(1)].float()
            case "statistics":
                assert backbone is not None, "statistics are computed by the backbone's output layer"
                assert marks is not None
                return _statistics(backbone, reading, positions, marks)

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
    rows = torch.zeros(offsets[-1], feature_width(backbone.width, features))
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


@dataclass(frozen=True)
class Marks:
    """The notation of steps' own tokens, which end before the separator.

    `classes` [steps, tokens] are -1 elsewhere. `exchanges` [n, 3] are other readings of operands: the cell of an
    operand among [steps, tokens], the cell whose prediction it may be read by, and the token predicted there.
    """

    classes: Tensor
    exchanges: Tensor


def _mark_tokens(backbone: Predictor, reading: Reading, spans: Sequence[tuple[int, int]], longest: int) -> Marks:
    """The notation of the steps at `spans`, of at most `longest` tokens.

    Operands of a sum or product may change places: each is read as the least surprising of the others in its place and
    itself in an earlier one.
    """
    ids, texts = reading.ids.tolist(), backbone.token_texts
    classes: list[list[int]] = []
    exchanges: list[tuple[int, int, int]] = []  # as of `Marks`
    for step, (start, end) in enumerate(spans):
        own = ids[start : end - len(backbone.layout.step_end)]
        notation = read_notation([texts[token] for token in own])
        classes.append(notation.classes + [-1] * (longest - len(own)))
        for chain in notation.chains:
            cells = [(step * longest + place, own[place]) for place in chain[:MOST_OPERANDS]]
            for n, (cell, token) in enumerate(cells):
                exchanges += [(cell, cell, other) for _, other in cells]
                exchanges += [(cell, earlier, token) for earlier, _ in cells[:n]]
    device = reading.ids.device
    return Marks(
        torch.tensor(classes, dtype=torch.long, device=device),
        torch.tensor(exchanges, dtype=torch.long, device=device).reshape(-1, 3),
    )


def _pool(states: Tensor, positions: Tensor, where: Tensor) -> Tensor:
    """Mean over some of a step's tokens, 0 without any.

    `index_add` needs memory for one state per token, however uneven the steps.
    """
    step_of = torch.arange(len(positions), device=states.device)[:, None].expand_as(positions)[where]
    sums = states.new_zeros(len(positions), states.shape[-1], dtype=torch.float32)
    sums = sums.index_add(0, step_of, states[positions[where]].float())
    return sums / where.sum(1, keepdim=True).clamp(min=1)


def _predictions(
    backbone: Predictor, reading: Reading, positions: Tensor, inside: Tensor, exchanges: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Per token of each step, in nats: surprisal, entropy of its prediction, and gap to the most probable token.

    A token is predicted from the state before it. An operand has the least of each over its exchanges (`Marks`); the
    last result is the surprisal of all tokens as written.
    """
    flat = positions[inside]
    cells, rows, others = exchanges.T
    place = (inside.flatten().cumsum(0) - 1)[rows]  # among `flat`
    chunk = max(1, LOGIT_CELLS // backbone.vocabulary)
    parts: list[Tensor] = []
    exchanged = reading.last.new_zeros(3, len(place), dtype=torch.float32)
    for start in range(0, len(flat), chunk):
        at = flat[start : start + chunk]
        log_p = backbone.logits(reading.last[reading.before[at]]).log_softmax(1)
        own, top = log_p.gather(1, reading.ids[at, None]).squeeze(1), log_p.amax(1)
        entropy = -(log_p.exp() * log_p).sum(1)
        parts.append(torch.stack([-own, entropy, top - own]))
        here = ((place >= start) & (place < start + chunk)).nonzero().squeeze(1)
        near = place[here] - start
        other = log_p[near, others[here]]
        exchanged[:, here] = torch.stack([-other, entropy[near], top[near] - other])
    tokens = reading.last.new_zeros(3, positions.numel(), dtype=torch.float32)
    tokens[:, inside.flatten()] = torch.cat([tokens[:, :0], *parts], dim=1)
    least = tokens.scatter_reduce(1, cells.expand(3, -1), exchanged, "amin")
    surprisal, entropy, gap = least.reshape(3, *positions.shape)
    return surprisal, entropy, gap, tokens[0].reshape(positions.shape)


@torch.no_grad()
def _statistics(backbone: Predictor, reading: Reading, positions: Tensor, marks: Marks) -> Tensor:
    """[steps, len(STATISTICS)]; "excess" is surprisal minus entropy. UNREAD ones are of the tokens as written."""
    content = marks.classes >= 0
    surprisal, entropy, gap, written = _predictions(backbone, reading, positions, content, marks.exchanges)
    columns: list[Tensor] = []
    for number in CLASSES.values():
        where = marks.classes == number
        mean = _mean(surprisal, where)
        top = surprisal.masked_fill(~where, 0).topk(min(2, surprisal.shape[1]), dim=1).values
        spread = _mean((surprisal - mean[:, None]) ** 2, where).sqrt()  # E[x^2] - E[x]^2 would lose precision
        columns += [mean, top[:, 0], top[:, -1], spread]
        columns += [f(values, where) for values in (surprisal - entropy, entropy, gap) for f in (_mean, _max)]
    return torch.stack([*columns, _mean(written, content), _max(written, content)], dim=1)


def _mean(values: Tensor, where: Tensor) -> Tensor:
    return (values * where).sum(1) / where.sum(1).clamp(min=1)


def _max(values: Tensor, where: Tensor) -> Tensor:
    """The maximum by step, 0 for a step without tokens of its own."""
    return torch.where(where.any(1), values.masked_fill(~where, -torch.inf).amax(1), 0.0)


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
