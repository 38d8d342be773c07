r"""Parses plain quantities exactly: a number as people and models write it, with a percent sign and a unit.

Integers, decimals, thousands (`1,234`, `1{,}234`, `1 234`), ratios (`3/4`, `\frac{3}{4}`), mixed numbers (`1\frac12`,
`1 1/2`), scientific notation (`1.5e3`, `1.5 \times 10^{3}`), percentages, currencies and units. No other mathematics.
"""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 200  # characters; a longer text is no quantity
LARGEST_POWER = 300  # of ten; numbers with a larger one are rejected
ROUNDED_FROM = 6  # decimals; a number with at least as many may be rounded

SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
_UNIT_WORDS = """
    mm cm dm km ft yd mi kg mg lb lbs oz ml dl cl hr hrs min mins sec secs ms mph kmh rpm sq cu ha cc gal pt qt
"""
_MATHS_WORDS = """
    and or to pi sqrt sin cos tan cot sec csc log exp lim mod max min gcd lcm choose plus minus times over if when for
"""
UNITS = frozenset(_UNIT_WORDS.split())
NO_UNITS = frozenset(_MATHS_WORDS.split())

_INTEGER = re.compile(r"-?[0-9]{1,18}")  # the most frequent case, parsed directly
_SPELLINGS = {"−": "-", "–": "-", "⁄": "/", "∕": "/", "×": r"\times ", "·": r"\cdot ", "°": r"^\circ "}
_RAISED = {ord(raised): plain for raised, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}
_RAISED_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_VULGAR = re.compile("[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_DRESS = re.compile(r"\\(?:displaystyle|left|right|quad|qquad)(?![a-zA-Z])|\\[,;:! ()\[\]$]|[$€£¥₹~*`]")
_TEXT = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox) ?\{([^{}<>]*)\}")
_DEGREES = re.compile(r"\^ ?(?:\{ ?\\circ ?\}|\\circ(?![a-zA-Z]))")
_GROUPS = re.compile(r"(?<=\d)(?:\{,\}| )(?=\d{3}(?![\d/]))")
_THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?!\d)")
_FRACTION = re.compile(r"\\[dtc]?frac ?(?:\{ ?(-?\d+) ?\}|(\d)) ?(?:\{ ?(\d+) ?\}|(\d))")
_POWER = re.compile(r" ?(?:\\times|\\cdot|x) ?10 ?\^ ?(?:\{ ?([+-]?\d{1,6}) ?\}|([+-]?\d{1,6}))")
_QUANTITY = re.compile(
    r"(?P<sign>[+-]?) ?(?:(?P<whole>\d+) )?(?P<top>\d+\.?\d*|\.\d+)(?: ?/ ?(?P<bottom>\d+\.?\d*|\.\d+))?"
    r"(?:[eE](?P<power>[+-]?\d{1,6})(?!\w))? ?(?P<percent>\\?%|percent\b)? ?(?P<unit>.*)"
)
_UNIT = re.compile(
    r"<(?P<worded>[^<>]*)>(?:\^ ?\{?[23]\}?)?|(?P<plain>[A-Za-z]+(?:[ /-][A-Za-z]+){0,3})(?:\^ ?\{?[23]\}?)?"
)


@dataclass(frozen=True)
class Quantity:
    """A quantity: `value` is before its percent sign; `decimals` is None for a ratio or an integer."""

    value: Fraction
    decimals: int | None
    percent: bool
    unit: str

    def equals(self, other: "Quantity") -> bool | None:
        """Whether the quantities are equal; None if the numbers agree but the units differ.

        A percentage equals both its number and its hundredth. A decimal with six places or more may be rounded.
        """
        if not any(self._near(one, other) for one in self._readings(other.percent)):
            return False
        return None if self.unit and other.unit and self.unit != other.unit else True

    def _readings(self, both: bool) -> list[Fraction]:
        if self.percent == both:
            return [self.value]
        return [self.value, self.value / 100 if self.percent else self.value * 100]

    def _near(self, value: Fraction, other: "Quantity") -> bool:
        if value == other.value:
            return True
        places = [decimals for decimals in (self.decimals, other.decimals) if decimals is not None]
        return (
            bool(places) and min(places) >= ROUNDED_FROM and abs(value - other.value) < Fraction(1, 10 ** min(places))
        )


def quantity(text: str) -> Quantity | None:
    """The quantity that is the whole of `text`; None for any other text."""
    if len(text) > LONGEST:
        return None
    if _INTEGER.fullmatch(text):
        return Quantity(Fraction(int(text)), None, False, "")
    match = _QUANTITY.fullmatch(_spelt_alike(text))
    if not match:
        return None
    worded = _unit(match["unit"], apart=match["unit"] == "" or match.string[match.start("unit") - 1] == " ")
    value = _value(match)
    if worded is None or value is None:
        return None
    scale, unit = worded
    plain = match["bottom"] is None and "." in match["top"]
    decimals = len(match["top"].partition(".")[2]) if plain and not match["power"] else None
    return Quantity(value * scale, decimals, bool(match["percent"]), unit)


def _spelt_alike(text: str) -> str:
    """The text with spellings unified, and the content of \\text{} in angle brackets."""
    text = _RAISED_RUN.sub(lambda run: f"^{{{run[0].translate(_RAISED)}}}", _VULGAR.sub(r" \g<0>", text))
    text = unicodedata.normalize("NFKC", text)
    for odd, plain in _SPELLINGS.items():
        text = text.replace(odd, plain)
    text = _TEXT.sub(lambda words: f" <{words[1].strip(' .')}>" if words[1].strip(" .") else " ", _DRESS.sub(" ", text))
    text = _FRACTION.sub(lambda f: f" {f[1] or f[2]}/{f[3] or f[4]}", _DEGREES.sub(" <degree>", text))
    text = _POWER.sub(lambda power: f"e{power[1] or power[2]}", " ".join(text.split()))
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), _GROUPS.sub("", text))
    return " ".join(text.split()).rstrip(". ")


def _value(match: re.Match[str]) -> Fraction | None:
    power = int(match["power"] or 0)
    bottom = Fraction(match["bottom"] or 1)
    mixed = match["whole"] is not None
    if abs(power) > LARGEST_POWER or not bottom or (mixed and (match["bottom"] is None or "." in match["top"])):
        return None
    value = (Fraction(match["top"]) / bottom + int(match["whole"] or 0)) * Fraction(10) ** power
    return -value if match["sign"] == "-" else value


def _unit(text: str, *, apart: bool) -> tuple[int, str] | None:
    """The factor and the name of a unit, without a plural ending; None if the text is not a unit."""
    if not text:
        return 1, ""
    scale = 1
    first, _, rest = text.strip("<>").lower().partition(" ")
    if first in SCALES:
        scale, text = SCALES[first], f"<{rest}>"
        if not rest:
            return scale, ""
    match = _UNIT.fullmatch(text)
    if not match:
        return None
    if match["plain"]:
        words = re.split("[ /-]", match["plain"].lower())
        if any(word in NO_UNITS for word in words) or (words[0] not in UNITS and (not apart or len(words[0]) < 3)):
            return None
    return scale, re.sub(r"e?s(?=\W|$)", "", text.strip("<>").lower())
