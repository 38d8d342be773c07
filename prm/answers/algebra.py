r"""Compares an answer with its reference by algebra: expressions, equations, sets, intervals, tuples, matrices.

Math-Verify (Hugging Face) parses LaTeX with its own grammar and compares in SymPy. Only that grammar is used, never its
parser of plain expressions, which evaluates Python. Numbers are converted without SymPy's parser, which also evaluates
them. Run this only in the process of `prm.answers.child`: SymPy can use unlimited time and memory on a hostile answer.
"""

import logging
import re
from typing import Any

from math_verify import LatexExtractionConfig, parse, verify
from sympy import Basic, Expr, Float, Integer, MatrixBase, Rational, Set, Symbol, SympifyError, Tuple
from sympy.core.relational import Relational
from sympy.parsing import sympy_parser

READ = [LatexExtractionConfig()]
POINTS = ((17, 12), (23, 30), (41, 35), (59, 66), (71, 60), (83, 90))  # numerators and denominators tried for variables
SMALL = 1e-9
NAME = re.compile(r"[A-Za-z_]\w{0,40}")
NUMBER = re.compile(r"[+-]?(?:\d{1,1000}\.?\d{0,1000}|\.\d{1,1000})")
PLAIN = (
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"(?<!\\)\*"), r" \\cdot "),
    (re.compile(r"(?<!\\)\bsqrt\s?\(([^()]*)\)"), r"\\sqrt{\1}"),
    (re.compile(r"(?<!\\)\b(pi|sin|cos|tan|log|ln|sqrt)\b"), r"\\\1 "),
    (re.compile(r"√\s?\(([^()]*)\)"), r"\\sqrt{\1}"),
    (re.compile(r"√\s?(\w+)"), r"\\sqrt{\1}"),
    (re.compile(r"(?<=\d)[eE]([+-]?\d+)(?!\w)"), r" \\cdot 10^{\1}"),
)
SIGNS = {
    "π": r"\pi ", "∞": r"\infty ", "∪": r"\cup ", "∩": r"\cap ", "≤": r"\le ", "≥": r"\ge ", "×": r"\times ",
    "·": r"\cdot ", "±": r"\pm ", "−": "-", "≠": r"\ne ", "∈": r"\in ", "°": r"^\circ ", "θ": r"\theta ", "²": "^2",
    "³": "^3",
}  # fmt: skip

for _name in ("math_verify", "latex2sympy2_extended"):
    logging.getLogger(_name).setLevel(logging.ERROR)  # it warns that the limits are its caller's


def disarm() -> None:
    """Make SymPy parse texts only as numbers and names in this process."""
    sympy_parser.parse_expr = _atom


def compare(stated: str, reference: str) -> bool | None:
    """Whether the answer equals the reference; None if one cannot be parsed, or if neither is proved."""
    answer, wanted = _read(stated), _read(reference)
    if answer is None or wanted is None:
        return None
    if verify(wanted, answer, allow_set_relation_comp=True, timeout_seconds=None, raise_on_error=True):
        return True
    return False if _shown_to_differ(answer, wanted) else None


def _read(text: str) -> Any:
    for sign, command in SIGNS.items():
        text = text.replace(sign, command)
    for pattern, command in PLAIN:
        text = pattern.sub(command, text)
    parsed = parse(
        f"${text.replace('$', ' ')}$", READ, fallback_mode="no_fallback", parsing_timeout=None, raise_on_error=True
    )
    return parsed[0] if parsed else None


def _shown_to_differ(answer: Any, wanted: Any) -> bool:
    """Whether two objects that were not proved equal are proved different.

    Expressions differ if their values at a point do; objects with several parts differ in the number of parts or in a
    part.
    """
    if isinstance(answer, Relational) and not isinstance(wanted, Relational):
        answer = answer.rhs
    if isinstance(answer, Expr) and isinstance(wanted, Expr):
        return _differ_somewhere(answer, wanted)
    if isinstance(answer, MatrixBase) and isinstance(wanted, MatrixBase):
        return answer.shape != wanted.shape or any(map(_shown_to_differ, answer.flat(), wanted.flat()))
    if isinstance(answer, Relational) and isinstance(wanted, Relational):
        return False
    return isinstance(answer, (Set, Tuple, Expr)) and isinstance(wanted, (Set, Tuple, Expr))


def _differ_somewhere(answer: Expr, wanted: Expr) -> bool:
    difference = answer - wanted
    names = sorted(difference.free_symbols, key=str)
    for shift in range(3):
        values = {name: Rational(*POINTS[(place + shift) % len(POINTS)]) for place, name in enumerate(names)}
        at = difference.subs(values).doit().evalf(20)
        if isinstance(at, Basic) and at.is_number and at.is_finite and abs(complex(at)) > SMALL:
            return True
    return False


def _atom(text: str, *_: object, **__: object) -> Expr:
    if NAME.fullmatch(text):
        return Symbol(text)
    if not NUMBER.fullmatch(text):
        raise SympifyError(text)
    return Float(text) if "." in text else Integer(int(text))
