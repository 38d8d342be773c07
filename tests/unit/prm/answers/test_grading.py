"""An answer is its reference, is not, or cannot be told: exactly, and without algebra."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.answers import agrees, grade
from prm.answers.grading import needs_algebra
from prm.answers.quantities import quantity

SAME = [
    ("18", "18"), ("$18.00", "18"), ("18 dollars", "18"), ("1,234", "1234"), (r"1{,}234", "1234"),
    ("1 234 567", "1234567"),
    ("1.5e3", "1500"), (r"1.5 \times 10^{3}", "1,500"), ("1.5×10³", "1500"), ("3/4", "0.75"), (r"\dfrac{3}{4}", "0.75"),
    (r"\frac34", "75%"), ("1 1/2", r"\frac{3}{2}"), (r"1\frac12", "1.5"), ("3½", "3.5"), ("−3", "-3"),
    (r"-\frac{6}{2}", "-3"),
    ("75%", "75"), ("75%", "0.75"), (r"75\%", "75 percent"), ("x = 3", "3"), ("3", "x=3"), (r"\boxed{3}", "3"),
    (r"5\text{ cm}", "5"), ("5 cm", "5cm"), ("5 meters", "5 meter"), (r"90^\circ", "90"), ("90°", r"90^{\circ}"),
    ("2 dozen", "24"), ("1.2 million dollars", "1,200,000"), ("0.333333", "1/3"), (r"\(7\)", "7"), ("#### 7", "7"),
    ("7.", "7"),
    ("(B)", "B"), ("B. apples", "(B)"), (r"\text{(C)}", "C"), ("Yes.", "yes"), (r"\text{east}", "East"),
    ("[1, 2]", "[1,2]"),
    ("$x^2$", "x^2"), ("Janet has 3 left\n#### 3", "The rest\n#### 3"),
]  # fmt: skip
DIFFERENT = [
    ("18", "19"), ("1,234", "1.234"), ("75%", "7.5"), ("9", "0.09"), ("0.33", "1/3"), ("-3", "3"), ("5 cm", "6"),
    ("(A)", "(B)"), ("yes", "no"), ("True", "False"), ("x = 4", "3"), ("0.0000001", "0.0000002"),
    ("100000000001", "100000000002"),
]  # fmt: skip
CANNOT_TELL = [
    ("5 cm", "5 km"), ("east", "west"), ("", "3"), ("3", ""), ("x = 3", "y = 3"), ("twelve", "12"), (r"\sqrt{4}", "2"),
    ("1e999999", "3"), ("9" * 5000, "9"), ("12:30", "12.5"), ("3x", "3"), ("2 pi", "2"), ("5!", "5"), ("1/0", "1"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "wanted"), SAME)
def test_answers_that_say_the_same_are_correct_either_way_round(said: str, wanted: str) -> None:
    assert grade(said, wanted) is True
    assert grade(wanted, said) is True


@pytest.mark.parametrize(("said", "wanted"), DIFFERENT)
def test_numbers_choices_and_verdicts_that_differ_are_wrong(said: str, wanted: str) -> None:
    assert grade(said, wanted) is False
    assert grade(wanted, said) is False


@pytest.mark.parametrize(("said", "wanted"), CANNOT_TELL)
def test_what_cannot_be_told_is_not_guessed(said: str, wanted: str) -> None:
    assert grade(said, wanted) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_answer_is_too_odd(said: str, wanted: str) -> None:
    assert grade(said, wanted) in (True, False, None)
    assert grade(said, wanted) == grade(wanted, said)


@given(st.fractions(max_denominator=10**6), st.fractions(max_denominator=10**6))
def test_ratios_are_graded_by_value(one: Fraction, other: Fraction) -> None:
    assert grade(f"{one.numerator}/{one.denominator}", rf"\frac{{{other.numerator}}}{{{other.denominator}}}") is (
        one == other
    )


@given(st.integers(-(10**15), 10**15))
def test_thousands_are_a_way_to_write_a_number(value: int) -> None:
    read = quantity(f"{value:,}")
    assert read is not None
    assert read.value == value


@pytest.mark.parametrize(
    ("said", "wanted", "more"),
    [
        (r"\sqrt{4}", "2", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{bmatrix}1\\2\end{bmatrix}", True),
        ("(1, 2)", "(1, 3)", True),
        ("east", "west", False),
        ("the cat", "x", False),
        ("3", "4", False),
        ("5 cm", "5 km", False),
        ("x" * 3000, "x", False),
    ],
)
def test_only_mathematics_is_worth_algebra(said: str, wanted: str, more: bool) -> None:
    assert needs_algebra(said, wanted) is more


@pytest.mark.parametrize(
    ("solution", "reference", "verdict"),
    [
        ("So the answer is 3/4.", "0.75", True),
        ("So the answer is 12.", "13", False),
        ("No number at all.", "13", False),
        ("The program prints [1, 2].", "[1, 2]", True),
        ("The program prints [1, 3].", "[1, 2]", None),
        ("", "13", False),
        ("", "Athens", None),
        ("We get sqrt(3) metres, where 3 is prime.", r"\sqrt{3}", None),
        ("Answer: (B)", "A", False),
        ("We ate the pizza.", "A", None),
        ("They met in Athens.", "Athens", True),
    ],
)
def test_a_solution_agrees_with_its_reference_or_not_or_cannot_be_told(
    solution: str, reference: str, verdict: bool | None
) -> None:
    assert agrees(solution, reference) is verdict
