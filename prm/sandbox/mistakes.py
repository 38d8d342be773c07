"""General mistakes of models: functions that make a right value or expression wrong.

Every function takes its random generator, and returns None if the mistake does not apply.
"""

from fractions import Fraction
from random import Random

Value = int | Fraction | str | bool | list[int]
Term = int | Fraction | str

OTHER_OPERATION = {"+": "-*", "-": "+", "*": "+", "/": "*-"}


def evaluate(terms: tuple[Term, ...]) -> int | Fraction:
    """The exact value of an expression given as terms: numbers, "+", "-", "*", "/", "(" and ")"."""
    numbers = {f"n{i}": Fraction(term) for i, term in enumerate(terms) if not isinstance(term, str)}
    source = " ".join(term if isinstance(term, str) else f"n{i}" for i, term in enumerate(terms))
    return simplify(eval(source, {"__builtins__": {}}, numbers))


def simplify(value: Fraction) -> int | Fraction:
    """A whole fraction as an int."""
    return value.numerator if value.denominator == 1 else value


def misread_digits(number: int, rng: Random) -> int:
    """A number copied wrongly: with two differing digits swapped, else with one digit changed."""
    digits = list(str(abs(number)))
    swaps = [i for i in range(len(digits) - 1) if digits[i] != digits[i + 1] and digits[i + 1] != "0"]
    if swaps and rng.random() < 0.6:
        i = rng.choice(swaps)
        digits[i], digits[i + 1] = digits[i + 1], digits[i]
    else:
        i = rng.randrange(len(digits))
        digits[i] = rng.choice([d for d in "123456789" if d != digits[i]])
    return int("".join(digits)) * (-1 if number < 0 else 1)


def slip(value: Value, rng: Random) -> Value | None:
    """A near miss of the same type and, where possible, the same sign; None for text and truth values."""
    if isinstance(value, bool | str):
        return None
    if isinstance(value, list):
        return slip_in_list(value, rng)
    if isinstance(value, Fraction):
        return simplify(value + Fraction(1 if value.numerator == 1 else rng.choice((-1, 1)), value.denominator))
    moves = [value + d for d in (-2, -1, 1, 2)] + ([value - 10, value + 10] if abs(value) > 9 else [])
    if abs(value) > 9:
        moves.append(misread_digits(value, rng))
    plausible = [move for move in moves if move != value and (move > 0) == (value > 0) and (move < 0) == (value < 0)]
    return rng.choice(plausible or [value + 1])


def slip_in_list(values: list[int], rng: Random) -> list[int] | None:
    """A list with one element changed, or without its last element."""
    if not values:
        return None
    if len(values) > 1 and rng.random() < 0.4:
        return values[:-1]
    i = rng.randrange(len(values))
    return [v + rng.choice((-1, 1)) if k == i else v for k, v in enumerate(values)]


def wrong_operation(terms: tuple[Term, ...], rng: Random) -> tuple[Term, ...] | None:
    """The same numbers with another operation at one place."""
    places = [i for i, term in enumerate(terms) if term in OTHER_OPERATION]
    i = rng.choice(places)
    return (*terms[:i], rng.choice(OTHER_OPERATION[str(terms[i])]), *terms[i + 1 :])


def lost_term(terms: tuple[Term, ...], rng: Random) -> tuple[Term, ...] | None:
    """A sum of three or more terms without one of them."""
    if len(terms) < 5 or any(term in ("(", ")", "/") for term in terms):
        return None
    i = rng.choice(range(1, len(terms), 2))
    return (*terms[:i], *terms[i + 2 :])


def copied_number(terms: tuple[Term, ...], rng: Random) -> tuple[Term, ...] | None:
    """The same expression with one of its numbers copied wrongly."""
    places = [i for i, term in enumerate(terms) if isinstance(term, int)]
    if not places:
        return None
    i = rng.choice(places)
    return (*terms[:i], misread_digits(int(terms[i]), rng), *terms[i + 1 :])
