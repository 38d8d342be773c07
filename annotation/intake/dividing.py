"""What a rule of decomposition makes of some texts: how many steps, how long, what looks wrong; what others make."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from annotation.intake.decomposition import RULES, decompose

LOOKED_AT = 400_000  # characters, of all texts together; what comes behind is not divided here
LONG = 2_000  # characters: more than a person reads as one step
MANY = 60  # steps: more than a person rates in one go
SHORT = 4  # characters: less than a step says


@dataclass(frozen=True)
class Bar:
    """How many solutions have from `least` to `most` steps."""

    least: int
    most: int
    solutions: int


@dataclass(frozen=True)
class Tried:
    """One rule on the same texts: the fewest, the median and the most steps of a solution."""

    rule: str
    fewest: int
    median: float
    most: int


@dataclass(frozen=True)
class Division:
    """The texts by one rule. `whole` counts solutions that stay one step, `many` those of more than MANY; `long` and
    `short` count steps; `longest` is in characters."""

    rule: str
    solutions: int
    bars: list[Bar]
    longest: int
    whole: int
    many: int
    long: int
    short: int
    tried: list[Tried]

    @property
    def tallest(self) -> int:
        return max((bar.solutions for bar in self.bars), default=0)


def division_of(texts: Sequence[str], rule: str) -> Division | None:
    """What `rule` makes of the texts, and each other rule; None where there is no text.

    Raises KeyError for an unknown rule.
    """
    looked_at = _first(texts)
    if not looked_at:
        return None
    divided = [decompose(text, rule) for text in looked_at]
    counts = [len(steps) for steps in divided]
    lengths = [len(step) for steps in divided for step in steps]
    others = {name: counts if name == rule else [len(decompose(text, name)) for text in looked_at] for name in RULES}
    return Division(
        rule=rule,
        solutions=len(looked_at),
        bars=_bars(counts),
        longest=max(lengths, default=0),
        whole=counts.count(1),
        many=sum(count > MANY for count in counts),
        long=sum(length > LONG for length in lengths),
        short=sum(length < SHORT for length in lengths),
        tried=[Tried(name, min(many), median(many), max(many)) for name, many in others.items()],
    )


def _first(texts: Sequence[str]) -> list[str]:
    taken, left = [], LOOKED_AT
    for text in texts:
        if left <= 0:
            break
        taken.append(text[:left])
        left -= len(text)
    return taken


def _bars(counts: Sequence[int], most: int = 12) -> list[Bar]:
    """One bar a number of steps, or as few numbers a bar as make `most` bars."""
    least, width = min(counts), (max(counts) - min(counts)) // most + 1
    edges = range(least, max(counts) + 1, width)
    return [Bar(edge, edge + width - 1, sum(edge <= count < edge + width for count in counts)) for edge in edges]
