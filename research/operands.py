"""Features without layout and the order of operands, a candidate for the default: measured by `research.notations`.

- A number that only counts the step ("Step 3:", "3.", "(3)") and a sign without a number beside it are not content.
- An operand of a sum or product is read in its least surprising place: as written, as any other operand in its place,
  or itself in the place of an earlier one. All come from the same forward pass.
- The number of a step's numbers or signs is no statistic.
- `tiny` reads signs that its world does not have as those that it has.
"""

import re
import shutil
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, normalizers
from torch import Tensor

from prm import features
from prm.backbones import NUMBER, OTHER, SIGN, TINY, Backbone
from prm.features import CLASSES, LOGIT_CELLS, UNREAD, Reading

READ_AS = {"×": "*", "∗": "*", "⋅": "*", "·": "*", "÷": "/", "∕": "/", "−": "-", "＋": "+"}
# The number of a step or the mark of a list item, before further content: "Step 3: ", "**3.** ", "- (3) ".
ORDINAL = re.compile(
    r"\s*(?:\[\w+\] )?(?:(?:[-*+•>]|#+)\s+)?[*_]*"
    r"(?:(?:[A-Za-z]+ )?#?\d+[:)]|(?:[Ss]tep )?\d+\.|\(\d+\)|\[\d+\])[:*_]*(?=\s+[^\s+*/=<>^×÷·-])"
)
OPERAND = re.compile(r"(?<!\d)\d+(?!\d)(?:\.\d+)?")  # without the looks around, a long number takes quadratic time
EXCHANGEABLE = re.compile(rf"{OPERAND.pattern}(?:[\s$]*(?:[+*×·]|\\times|\\cdot)[\s$]*{OPERAND.pattern})+")
MOST_OPERANDS = 16  # of one sum or product: their pairs are read

_texts: dict[int, list[str]] = {}  # of each token, by vocabulary


def use_operands() -> None:
    """Let `prm.features` compute these features."""
    features.MEASURES = features.MEASURES[:-1]
    assert features.STATISTICS[len(features.MEASURES)].endswith("log_count")
    names = (f"{name}_{measure}" for name in CLASSES for measure in features.MEASURES)
    features.STATISTICS = (*names, *UNREAD)
    features._own_classes = _own_classes
    features._statistics = _statistics


def write_tiny(folder: Path) -> str:
    """The path of `tiny` with a tokenizer that knows more signs."""
    shutil.copytree(TINY, folder)
    path = folder / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(*pair) for pair in READ_AS.items()])
    path.write_text(tokenizer.to_str())
    return str(folder)


def read_notation(texts: Sequence[str], classes: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """A step's token classes without layout, and its sums and products: the first token of each operand in order.

    `texts` and `classes` are those of the tokens by themselves.
    """
    own = list(classes)
    if NUMBER not in own:
        return [OTHER] * len(own), []
    text, begins = "".join(texts), [0]
    for part in texts:
        begins.append(begins[-1] + len(part))
    ordinal = ORDINAL.match(text)
    content = ordinal.end() if ordinal else 0
    for place in range(bisect_right(begins, content - 1) if content else 0):
        own[place] = OTHER
    beside = _after_number(texts, own)
    beside |= {len(own) - 1 - place for place in _after_number(texts[::-1], own[::-1])}
    chains = [
        [bisect_right(begins, operand.start()) - 1 for operand in OPERAND.finditer(text, *chain.span())]
        for chain in EXCHANGEABLE.finditer(text, content)
    ]
    return [OTHER if one == SIGN and k not in beside else one for k, one in enumerate(own)], chains


def _after_number(texts: Sequence[str], classes: Sequence[int]) -> set[int]:
    """The places of signs after which no letter, but a number, comes first."""
    places, number = set(), False
    for place, (text, own) in enumerate(zip(texts, classes, strict=True)):
        if own == SIGN:
            if number:
                places.add(place)
        elif own == NUMBER or any(map(str.isalnum, text)):
            number = own == NUMBER
    return places


def _notations(
    backbone: Backbone, reading: Reading, positions: Tensor, content: Tensor
) -> list[tuple[list[int], list[int], list[list[int]]]]:
    """The token ids, classes and chains of each step, whose own tokens are `content` of `positions`."""
    tokenizer = backbone.tokenizer
    if id(tokenizer) not in _texts:
        alone = [[token] for token in range(len(backbone.token_classes))]
        _texts[id(tokenizer)] = tokenizer.batch_decode(
            alone, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
    texts = _texts[id(tokenizer)]
    known = []
    for ids, inside in zip(reading.ids[positions], content, strict=True):
        own = ids[inside].tolist()
        known.append((own, *read_notation([texts[one] for one in own], backbone.token_classes[own].tolist())))
    return known


def _own_classes(backbone: Backbone, reading: Reading, positions: Tensor, inside: Tensor) -> Tensor:
    own = inside.sum(1, keepdim=True) - len(backbone.layout.step_end)
    content = torch.arange(inside.shape[1]) < own
    classes = torch.full(positions.shape, -1)
    for step, (ids, found, _) in enumerate(_notations(backbone, reading, positions, content)):
        classes[step, : len(ids)] = torch.tensor(found, dtype=torch.long)
    return classes


@torch.no_grad()
def _statistics(backbone: Backbone, reading: Reading, positions: Tensor, classes: Tensor) -> Tensor:
    """As in `prm.features`, with operands in their least surprising place; UNREAD ones are of the tokens as written."""
    content, longest = classes >= 0, positions.shape[1]
    exchanges: list[tuple[int, int, int]] = []  # an operand's cell, the cell whose prediction may read it, the token
    for step, (ids, _, chains) in enumerate(_notations(backbone, reading, positions, content)):
        for chain in chains:
            cells = [(step * longest + place, ids[place]) for place in chain[:MOST_OPERANDS]]
            for n, (cell, token) in enumerate(cells):
                exchanges += [(cell, cell, other) for _, other in cells]
                exchanges += [(cell, earlier, token) for earlier, _ in cells[:n]]
    surprisal, entropy, gap, written = _predictions(backbone, reading, positions, content, exchanges)
    columns: list[Tensor] = []
    for number in CLASSES.values():
        where = classes == number
        mean = features._mean(surprisal, where)
        top = surprisal.masked_fill(~where, 0).topk(min(2, longest), dim=1).values
        spread = features._mean((surprisal - mean[:, None]) ** 2, where).sqrt()
        columns += [mean, top[:, 0], top[:, -1], spread]
        for values in (surprisal - entropy, entropy, gap):
            columns += [features._mean(values, where), features._max(values, where)]
    return torch.stack([*columns, features._mean(written, content), features._max(written, content)], dim=1)


def _predictions(
    backbone: Backbone, reading: Reading, positions: Tensor, inside: Tensor, exchanges: list[tuple[int, int, int]]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Surprisal, entropy and gap per token, the least over its exchanges, and the surprisal of tokens as written."""
    flat = positions[inside]
    cells, rows, others = torch.tensor(exchanges, dtype=torch.long).reshape(-1, 3).T
    place = (inside.flatten().cumsum(0) - 1)[rows]  # among `flat`
    chunk = max(1, LOGIT_CELLS // backbone.vocabulary)
    parts: list[Tensor] = []
    exchanged = torch.zeros(3, len(place))
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
    tokens = torch.zeros(3, positions.numel())
    tokens[:, inside.flatten()] = torch.cat([tokens[:, :0], *parts], dim=1)
    least = tokens.scatter_reduce(1, cells.expand(3, -1), exchanged, "amin")
    surprisal, entropy, gap = least.reshape(3, *positions.shape)
    return surprisal, entropy, gap, tokens[0].reshape(positions.shape)
