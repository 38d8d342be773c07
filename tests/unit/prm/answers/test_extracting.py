"""Final answers are found in text, and those of equal value are one for a vote."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.answers import final_answer, normalised
from prm.answers.extracting import READ


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{3} no, \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed 7", "7"),
        (r"\boxed{}", None),
        ("7 + 5 = 12\n#### 12", "12"),
        ("The answer is 94.", "94"),
        ("The answer is: blue.", "blue"),
        ("The answer is 3/4 because 6/8 is 3/4.", "3/4"),
        ("The answer is $x^2 + 1$.", "x^2 + 1"),
        ("the answer is $x=1$ or $x=2$.", "x=1, x=2"),
        ("**Final Answer:** 42 apples are left in the basket now", "42"),
        ("Answer: (B) because it is larger", "B"),
        ("Step 9: Therefore, the solution is Choice_A.", "A"),
        ("So the answer is option C, which is 5.", "C"),
        ("<think>1</think><answer> 12 </answer>", "12"),
        ("The final answer is $\\frac{1}{2}$. I hope it is correct.", r"\frac{1}{2}"),
        (r"Therefore \( x = \frac{3}{4} \).", r"\frac{3}{4}"),
        ("Hence\n\\[\n\\text{Total} = 3 + 4 = 7\n\\]", "7"),
        ("It costs $5 and then $7 more, so 12", "12"),
        ("It is 3/4", "3/4"),
        ("She earns **$1,250.50** a week.", "1,250.50"),
        ("I give up", None),
        (r"\boxed{unclosed", None),
    ],
)
def test_the_answer_is_found_where_it_is_marked_else_at_the_end(text: str, answer: str | None) -> None:
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


@pytest.mark.parametrize(
    "piece",
    ["\\boxed{", "<answer>", "answer is ", "####", "$", "\\[", "{", "answer" + " " * 50, "1,", "9" * 50, "\\(x"],
)
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    """In quadratic time it would take hours."""
    text = piece * (1_000_000 // len(piece))
    assert normalised(text) is not None
    assert final_answer(text) is None or len(final_answer(text) or "") <= READ
