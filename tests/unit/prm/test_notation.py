"""The notation of a step: content and layout, and the operands that may change places."""

import pytest

from prm.notation import NUMBER, OTHER, SIGN, read_notation

KINDS = {NUMBER: "n", SIGN: "s", OTHER: "."}


def read(texts: list[str]) -> tuple[str, list[list[str]]]:
    """The classes as letters, and the first token of each operand."""
    notation = read_notation(texts)
    return "".join(KINDS[one] for one in notation.classes), [[texts[k] for k in chain] for chain in notation.chains]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Step 3: The sum is 4.", "4"),
        ("3. The sum is 4.", "4"),
        ("Problem 3. The sum is 4.", "4"),
        ("Question 3. 5 of 9 are red.", "59"),
        ("Leo has 3. The sum is 4.", "34"),
        ("(3) The sum is 4.", "4"),
        ("[3] The sum is 4.", "4"),
        ("**Step 3:** The sum is 4.", "4"),
        ("- 3) The sum is 4.", "4"),
        ("#3: The sum is 4.", "4"),
        ("3 + 4 = 7", "3+4=7"),
        ("3.5 is the half of 7.", "357"),
        ("f(3) is 4.", "34"),
        ("3) * 4", "3*4"),
        ("The answer is 4.", "4"),
        ("The answer is 4. It is even.", "4"),
        ("4.", "4"),
        ("- **For** the pens he pays 3 * 7", "3*7"),
        ("I double-checked 4", "4"),
        ("-4 is less", "-4"),
        ("x = 5, so y", "=5"),
        ("a - b", ""),
    ],
)
def test_layout_is_not_content(text: str, content: str) -> None:
    kinds, _ = read(list(text))
    assert "".join(text[place] for place, kind in enumerate(kinds) if kind != ".") == content


def test_operands_of_sums_and_products_may_change_places() -> None:
    assert read(["So ", "12", " +", " ", "3", "0", " +", " 4", " =", " 46"])[1] == [["12", "3", " 4"]]
    assert read(list("2 * 3 = 6, 4 + 5"))[1] == [["2", "3"], ["4", "5"]]
    assert read(["$", "2", " \\", "times", " ", "3", "$"])[1] == [["2", "3"]]


@pytest.mark.parametrize("text", ["9 - 4 = 5", "8 / 2 = 4", "2 ** 3 = 8", "2^3", "3, 4", "Step 3: 4 = 4", "7"])
def test_other_numbers_keep_their_places(text: str) -> None:
    assert read(list(text))[1] == []


def test_a_step_without_numbers_has_no_content() -> None:
    assert read(["a", " =", " b"]) == ("...", [])
    assert read([]) == ("", [])


def test_a_long_number_takes_linear_time() -> None:
    """In quadratic time, this would take a minute."""
    digits = ["1"] * 100_000
    assert read(digits) == ("n" * len(digits), [])
