"""The notation of a step's tokens: which are numbers and signs of its content, and which numbers may change places.

It is read from the texts of the step's own tokens, so any tokenizer fits, and no later step matters.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

NUMBER, SIGN, OTHER = range(3)
SIGNS = frozenset("+-−*/=<>^%×÷·\\")
# The number of a step or problem, or the mark of a list item, before further content: "Step 3: ", "**3.** ", "- (3) ".
ORDINAL = re.compile(
    r"\s*(?:\[\w+\] )?(?:(?:[-*+•>]|#+)\s+)?[*_]*"
    r"(?:(?:[A-Za-z]+ )?#?\d+[:)]|(?:(?i:step|problem|question|part) )?\d+\.|\(\d+\)|\[\d+\])[:*_]*"
    r"(?=\s+[^\s+*/=<>^×÷·-])"
)
OPERAND = re.compile(r"(?<!\d)\d+(?!\d)(?:\.\d+)?")  # without the looks around, a long number takes quadratic time
EXCHANGEABLE = re.compile(rf"{OPERAND.pattern}(?:[\s$]*(?:[+*×·]|\\times|\\cdot)[\s$]*{OPERAND.pattern})+")


class Notation(NamedTuple):
    """The class of each token of a step, and its sums and products: the first token of each operand in order."""

    classes: list[int]
    chains: list[list[int]]


@cache
def token_class(text: str) -> int:
    """NUMBER, SIGN or OTHER of a token by itself.

    A number has a decimal digit; a sign has one of SIGNS and neither letters nor digits.
    """
    if any(character.isdecimal() for character in text):
        return NUMBER
    return OTHER if SIGNS.isdisjoint(text) or any(map(str.isalnum, text)) else SIGN


def read_notation(texts: Sequence[str]) -> Notation:
    """The notation of a step whose tokens have these `texts`.

    Layout is OTHER: the step's own number, and signs without a number beside them, such as the marks of a list.
    """
    own = [token_class(text) for text in texts]
    if NUMBER not in own:
        return Notation([OTHER] * len(own), [])
    text = "".join(texts)
    begins = [0]
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
    return Notation([OTHER if one == SIGN and k not in beside else one for k, one in enumerate(own)], chains)


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
