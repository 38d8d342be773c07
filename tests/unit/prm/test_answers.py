"""Final answers are found in text and are equal by value."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.answers import agrees, final_answer, normalised


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{3} no, \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        ("7 + 5 = 12\n#### 12", "12"),
        ("The answer is 94.", "94"),
        ("The answer is: blue.", "blue"),
        ("She earns **$1,250.50** a week.", "1,250.50"),
        ("I give up", None),
        (r"\boxed{unclosed", None),
    ],
)
def test_the_answer_is_found_where_it_is_marked_else_the_last_number(text: str, answer: str | None) -> None:
    assert final_answer(text) == answer


@pytest.mark.parametrize(
    "same",
    [
        ["0.5", ".5", "1/2", r"\frac{1}{2}", r"\dfrac12", r"\boxed{\frac{2}{4}}", "$0.50$"],
        ["10000", "10,000", r"10{,}000", r"\$10000.00", r"10000 \text{ euros}", "10 000"],
        [r"1\frac{1}{10}", "1.1", "11/10"],
        ["-3", "-3.0", "-6/2", r"-\frac{3}{1}"],
        ["A", r"\text{A}", " A. "],
    ],
)
def test_equal_values_are_equal_answers(same: list[str]) -> None:
    assert len({normalised(answer) for answer in same}) == 1


@pytest.mark.parametrize(
    "different", [["1,2", "12"], ["1/0", "0"], ["12", "1.2"], [r"\sqrt{2}", "2"], ["9999", "9999.9"]]
)
def test_other_values_are_other_answers(different: list[str]) -> None:
    assert len({normalised(answer) for answer in different}) == len(different)


@given(st.fractions(max_denominator=1000))
def test_a_ratio_is_read_exactly(value: Fraction) -> None:
    assert normalised(f"{value.numerator}/{value.denominator}") == value


@given(st.text(max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    assert isinstance(normalised(text), Fraction | str)
    final_answer(text)


def test_a_ratio_after_the_answers_mark_is_one_number() -> None:
    assert normalised(final_answer("So the answer is 3/4.") or "") == Fraction(3, 4)
    assert normalised(final_answer(r"The answer is $\frac{3}{4}$.") or "") == Fraction(3, 4)


@pytest.mark.parametrize(
    ("solution", "reference", "agreed"),
    [
        ("So the answer is 3/4.", "0.75", True),
        ("So the answer is 12.", "13", False),
        ("No number at all.", "13", False),
        ("The program prints [1, 2].", "[1, 2]", True),
        ("The program prints [1, 3].", "[1, 2]", None),
        ("", "13", False),
        ("", "Athens", None),
    ],
)
def test_a_solution_agrees_with_its_reference_or_not_or_cannot_be_told(
    solution: str, reference: str, agreed: bool | None
) -> None:
    assert agrees(solution, reference) is agreed
