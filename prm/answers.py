r"""Final answers: found in a solution's text, and told apart by value where they are numbers. No torch.

Not a grader: it knows \boxed{}, plain and LaTeX fractions, decimals, and thousands' commas, and compares
anything else as text.
"""

import re
from fractions import Fraction

Answer = Fraction | str

NUMBER = re.compile(r"-?(?:\d[\d,]*)?\.?\d+")
MARKED = re.compile(r"(?:####|\banswer is:?)\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
WORDS = re.compile(r"\\(?:text|textbf|mathrm|mbox)\{([^{}]*)\}")  # units, mostly
DRESS = re.compile(r"\\[,;:!\s$%()\[\]]|\\(?:left|right|quad)\b|[\s$%*]")
THOUSANDS = re.compile(r"(?<=\d)(?:,|\{,\})(?=\d{3}(?!\d))")
DECIMAL = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
RATIOS = (  # sign, whole part, numerator, denominator
    re.compile(r"(-?)(\d*)\\[dt]?frac\{(-?\d+)\}\{(-?\d+)\}"),
    re.compile(r"(-?)(\d*)\\[dt]?frac(\d)(\d)"),
    re.compile(r"(-?)()(\d+)/(\d+)"),
)


def final_answer(text: str) -> str | None:
    r"""What a solution gives as its answer: the last \boxed{}, else what follows "####" or "answer is",
    else the last number; None where there is none of these."""
    boxed = _last_boxed(text)
    if boxed is not None:
        return boxed
    marked = MARKED.findall(text)
    if marked and isinstance(normalised(marked[-1]), Fraction):  # a ratio is one number, not two
        return marked[-1].rstrip(".")
    numbers = NUMBER.findall(marked[-1] if marked else text)
    if numbers:
        return numbers[0] if marked else numbers[-1]
    return marked[-1].strip(".") if marked else None


def agrees(solution: str, reference: str) -> bool | None:
    """Whether a solution's text gives the reference answer; None where that cannot be told.

    It cannot where the reference is no number, and neither the answer found nor the end of the text is that text.
    """
    wanted, given = normalised(reference), final_answer(solution)
    if given is not None and normalised(given) == wanted:
        return True
    if isinstance(wanted, Fraction):
        return False
    return True if wanted and str(normalised(solution)).endswith(wanted) else None


def normalised(answer: str) -> Answer:
    """The answer as an exact number where it is one, else as text without spaces and mathematical dress."""
    boxed = _last_boxed(answer)
    dressed = answer if boxed is None else boxed
    plain = DRESS.sub("", WORDS.sub("", dressed)) or DRESS.sub("", WORDS.sub(r"\1", dressed))
    plain = plain.rstrip(".")
    number = _number(THOUSANDS.sub("", plain))
    return plain if number is None else number


def _number(plain: str) -> Fraction | None:
    """The number that the whole of `plain` says."""
    if DECIMAL.fullmatch(plain):
        return Fraction(plain)
    for ratio in RATIOS:
        written = ratio.fullmatch(plain)
        if written and int(written[4]) != 0:
            value = Fraction(int(written[3]), int(written[4])) + int(written[2] or 0)
            return -value if written[1] else value
    return None


def _last_boxed(text: str) -> str | None:
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth = 0
    for position in range(start + len("\\boxed"), len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + len("\\boxed{") : position]
    return None
