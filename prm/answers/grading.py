"""Compares a final answer with its reference exactly and without algebra, in bounded time, evaluating no text."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from prm.answers.extracting import TIDY, find_answer, last_boxed
from prm.answers.quantities import NO_UNITS, Quantity, quantity

Answer = Fraction | str
Grading = Callable[[str, str], bool | None]  # of an answer and its reference

LONGEST = 2_000  # characters; a longer answer is not compared
LONGEST_FORMULA = 500
DEEPEST = 20  # nested brackets
ASSIGNED = re.compile(r"(\\?[A-Za-z]\w{0,15})\s?=(?![=<>])(.+)", re.DOTALL)
DELIMITED = re.compile(r"\$\$([^$]*)\$\$|\$([^$]*)\$|\\\((.*)\\\)|\\\[(.*)\\\]", re.DOTALL)
CHOICE = re.compile(r"\(([A-J])\)(?:\s.*)?|([A-J])(?:[.:)](?:\s.*)?)?", re.DOTALL)
WORDS = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\{([^{}]*)\}")
DRESS = re.compile(r"\\[,;:!\s$%()\[\]]|\\(?:left|right|quad|displaystyle)(?![a-zA-Z])|[\s$%*`]")
ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-z]*matrix\}")
DECIDED = ({"yes", "no"}, {"true", "false"}, {"valid", "invalid"}, {"possible", "impossible"})
SYMBOLIC = re.compile(r"[\d+/^=<>{}\[\]√π∞∪≤≥±]|\\[A-Za-z]|\b[A-Za-z]\b")
WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{3,}")


def grade(stated: str, reference: str) -> bool | None:
    """Whether an answer equals the reference; None if that needs algebra or is unknown.

    Numbers are equal by value, with or without a unit, and a percentage also as its hundredth; choices are equal by
    letter, texts by content. Numbers, choices, and yes and no, are wrong if they differ; other texts are never wrong.
    """
    if max(len(stated), len(reference)) > LONGEST:
        return None
    if stated == reference and stated.strip():
        return True
    answer, wanted = _bare(stated), _bare(reference)
    if not answer or not wanted:
        return None
    numbers = _quantities(answer, wanted)
    if numbers:
        return numbers[0].equals(numbers[1])
    return True if _plain(answer) == _plain(wanted) else _decided(answer, wanted)


def needs_algebra(stated: str, reference: str) -> bool:
    """Whether both are mathematics that `grade` cannot compare, but a `Grader` may."""
    if max(len(stated), len(reference)) > LONGEST:
        return False
    answer, wanted = _bare(stated), _bare(reference)
    return (
        grade(answer, wanted) is None
        and not _quantities(answer, wanted)
        and _is_symbolic(answer)
        and _is_symbolic(wanted)
    )


def agrees(solution: str, reference: str, *, graded: Grading = grade) -> bool | None:
    """Whether a solution's text gives the reference answer, by `graded`; None if unknown.

    If the reference is a number and the text has none, it does not. An unmarked answer is not wrong if the reference is
    not a number.
    """
    answer, numeric = find_answer(solution), quantity(_bare(reference)) is not None
    verdict = graded(answer.text, reference) if answer else False if numeric else None
    if verdict or numeric:
        return verdict
    if _ends_with(solution[-LONGEST:], _bare(reference)):
        return True
    return verdict if answer and answer.marked else None


def normalised(answer: str) -> Answer:
    """The answer as an exact number if it is one, else as text without spaces and mathematical markup."""
    bare = _bare(answer)
    number = quantity(bare)
    return number.value if number else _plain(bare)


def _bare(answer: str) -> str:
    """The answer without its box, mark or dollars."""
    text = answer.rpartition("####")[2]
    boxed = last_boxed(text) if "box" in text else None
    text = (text if boxed is None else boxed).strip(TIDY)
    delimited = DELIMITED.fullmatch(text.rstrip("."))
    return next(inside for inside in delimited.groups() if inside is not None).strip() if delimited else text


def _ends_with(text: str, wanted: str) -> bool:
    """Whether a text's last words are `wanted`, with any spacing: "pizza" does not end with "a"."""
    letters = "".join(wanted.split())
    if not letters or len(letters) > LONGEST_FORMULA:
        return False
    pattern = r"\s*".join(map(re.escape, letters))
    return re.search(rf"(?<!\w){pattern}[\s.*_`$]*\Z", text, re.IGNORECASE) is not None


def _plain(text: str) -> str:
    dressed = WORDS.sub(r"\1", text)
    return DRESS.sub("", dressed).rstrip(".").lower()


def _quantities(answer: str, wanted: str) -> tuple[Quantity, Quantity] | None:
    """Both as quantities, "x = 3" as 3; None if one is not a quantity, or they assign different variables."""
    sides = [ASSIGNED.fullmatch(text) for text in (answer, wanted)]
    names = {side[1] for side in sides if side}
    one, other = (quantity(side[2] if side else text) for side, text in zip(sides, (answer, wanted), strict=True))
    return (one, other) if one and other and len(names) < 2 else None


def _decided(answer: str, wanted: str) -> bool | None:
    """Whether two answers from a small set are the same: letters of a choice, or yes and no; None for others."""
    choices = [CHOICE.fullmatch(WORDS.sub(r"\1", text)) for text in (answer, wanted)]
    if choices[0] and choices[1]:
        return (choices[0][1] or choices[0][2]) == (choices[1][1] or choices[1][2])
    return False if {_plain(answer), _plain(wanted)} in DECIDED else None


def _is_symbolic(text: str) -> bool:
    brackets = (1 if sign in "([{" else -1 for sign in text if sign in "()[]{}")
    if len(text) > LONGEST_FORMULA or max(accumulate(brackets), default=0) > DEEPEST:
        return False
    bare = ENVIRONMENT.sub(" ", WORDS.sub(" ", text))
    return bool(SYMBOLIC.search(bare)) and all(word.lower() in NO_UNITS for word in WORD.findall(bare))
