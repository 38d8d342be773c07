"""Previews a splitting rule on sample texts: step counts, lengths and oddities, beside the other rules' counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import msgspec

from prm.splitting import RULES, Splitting

LOOKED_AT = 400_000  # characters of all texts together; the rest is not split
LONG = 2_000  # characters: too many to read as one step
MANY = 60  # steps: too many to rate in one go
SHORT = 4  # characters: too few for a step


@dataclass(frozen=True)
class Bar:
    """The number of solutions with `least` to `most` steps."""

    least: int
    most: int
    solutions: int


@dataclass(frozen=True)
class Tried:
    """The result of one rule on the texts: the fewest, the median and the most steps of a solution."""

    rule: str
    fewest: int
    median: float
    most: int


@dataclass(frozen=True)
class Division:
    """The texts split by one rule.

    `applied` counts solutions by the rule that divided them, which `automatic` chooses. `whole` counts solutions with
    one step, `many` those with more than MANY; `long` and `short` count steps; `longest` is in characters. `thinking`
    counts solutions with hidden reasoning.
    """

    splitting: Splitting
    applied: dict[str, int]
    solutions: int
    bars: list[Bar]
    longest: int
    whole: int
    many: int
    long: int
    short: int
    thinking: int
    tried: list[Tried]

    @property
    def rule(self) -> str:
        return self.splitting.rule

    @property
    def tallest(self) -> int:
        return max((bar.solutions for bar in self.bars), default=0)


def division_of(texts: Sequence[str], splitting: Splitting) -> Division | None:
    """The texts split by the rule, with the results of the other rules; None without texts."""
    looked_at = _first(texts)
    if not looked_at:
        return None
    divided = [splitting.split(text) for text in looked_at]
    counts = [len(split.steps) for split in divided]
    lengths = [len(step) for split in divided for step in split.steps]
    counts_by_rule = {name: counts if name == splitting.rule else _counts(looked_at, splitting, name) for name in RULES}
    return Division(
        splitting=splitting,
        applied=Counter(split.rule for split in divided),
        solutions=len(looked_at),
        bars=_bars(counts),
        longest=max(lengths, default=0),
        whole=counts.count(1),
        many=sum(count > MANY for count in counts),
        long=sum(length > LONG for length in lengths),
        short=sum(length < SHORT for length in lengths),
        thinking=sum(split.thinking_length > 0 for split in divided),
        tried=[Tried(name, min(many), median(many), max(many)) for name, many in counts_by_rule.items()],
    )


def _counts(texts: Sequence[str], splitting: Splitting, rule: str) -> list[int]:
    alternative = msgspec.structs.replace(splitting, rule=rule)
    return [len(alternative.split(text).steps) for text in texts]


def _first(texts: Sequence[str]) -> list[str]:
    beginnings, chars_left = [], LOOKED_AT
    for text in texts:
        if chars_left <= 0:
            break
        beginnings.append(text[:chars_left])
        chars_left -= len(text)
    return beginnings


def _bars(counts: Sequence[int], most: int = 12) -> list[Bar]:
    """Bars of one number of steps each, or of as few numbers as make at most about `most` bars."""
    least, width = min(counts), (max(counts) - min(counts)) // most + 1
    edges = range(least, max(counts) + 1, width)
    return [Bar(edge, edge + width - 1, sum(edge <= count < edge + width for count in counts)) for edge in edges]
