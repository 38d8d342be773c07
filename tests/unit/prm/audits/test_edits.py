"""What edits keep, what they break, and that long chains are right where their parts were."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.audits.edits import (
    answer_span,
    enumerate_steps,
    falsify,
    mark_up,
    pad,
    praise,
    renotate,
    repeat,
    rephrase,
    right_answers,
    with_problem,
    with_right_answer,
    with_wrong_answer,
)
from prm.audits.long import make_chains
from prm.labels import first_error
from prm.sandbox import WorldConfig, generate
from prm.traces import Step, Trace
from tests.unit.prm.audits.sums import make_sums, perfect

WORLD = make_sums(80, seed=3)
SIMPLE = re.compile(
    r"(?<![-+*/×.\d] )(?<![\d.])(\d+) (\+|-|\*|×|/|\\times|\\cdot|\\div) (\d+) = (\d+)(?![\d./]| [-+*/×\\])"
)
OPERATIONS = {"+": "+", "-": "-", "*": "*", "×": "*", r"\times": "*", r"\cdot": "*", "/": "/", r"\div": "/"}


def accepted(trace: Trace) -> bool:
    return min(perfect(trace)) > 0.5


def step(text: str) -> Trace:
    return Trace("t", "p", [Step(text)], first_error=-1)


@pytest.mark.parametrize("edit", [rephrase, renotate, pad, repeat, praise, enumerate_steps, mark_up])
@given(trace=st.sampled_from(WORLD), seed=st.integers(0, 99))
def test_a_harmless_edit_changes_the_text_and_not_the_truth(edit, trace: Trace, seed: int) -> None:
    edited = edit(trace, Random(seed))
    if edited is not None:
        assert edited.steps != trace.steps
        assert accepted(edited) == accepted(trace)


@given(trace=st.sampled_from([t for t in WORLD if first_error(t) == -1]), seed=st.integers(0, 99))
def test_a_harmful_edit_makes_a_right_solution_wrong(trace: Trace, seed: int) -> None:
    made_false = falsify(trace, Random(seed))
    assert made_false is not None
    edited, place = made_false
    assert perfect(edited)[place] < 0.5 < perfect(trace)[place]
    assert [k for k, (a, b) in enumerate(zip(edited.steps, trace.steps, strict=True)) if a != b] == [place]
    other = next(t for t in WORLD if t.problem != trace.problem)
    assert not accepted(with_problem(trace, other.problem))
    wrong = with_wrong_answer(trace, Random(seed))
    assert wrong is not None
    assert perfect(wrong)[-1] < 0.5
    assert wrong.steps[:-1] == trace.steps[:-1]


def test_other_signs_keep_every_equation_of_the_sandbox_true() -> None:
    """A simple equation holds after the edit exactly where one held before."""
    changed = 0
    for trace in generate(WorldConfig(), split="pool", n=200):
        edited = renotate(trace, Random(0))
        for before, after in zip(trace.steps, (edited or trace).steps, strict=True):
            changed += before != after
            assert holds(before.text) == holds(after.text), (before.text, after.text)
    assert changed > 100


def holds(text: str) -> list[bool]:
    """The truth of every equation of two whole numbers in the text."""
    return [
        abs(eval(f"{a} {OPERATIONS[sign]} {b}") - int(result)) < 1e-9  # digits and one sign
        for a, sign, b, result in SIMPLE.findall(text)
        if b != "0"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes 8 - 2 + 1 = 7 days.", None),
        ("We get 3 * 9 = 3 * 8 + 3 = 27.", "We get 9 × 3 = 3 × 8 + 3 = 27."),
        ("In all 36 + 54 + 4 = 94.", None),
        (r"So $5 \times 6 = 30$.", r"So $6 \cdot 5 = 30$."),
        (r"Half is $30 \div 2 = 15$.", "Half is $30 / 2 = 15$."),
        ("The sum is 1.5 + 2 = 3.5.", "The sum is 2 + 1.5 = 3.5."),
        ("(3) + 4 = 7", None),
        ("x 2 + 3 = 5", "x 3 + 2 = 5"),
    ],
)
def test_operands_change_places_only_where_that_keeps_the_value(text: str, expected: str | None) -> None:
    edited = renotate(step(text), Random(0))
    assert (edited and edited.steps[0].text) == expected


def test_code_and_tools_are_left_as_they_are() -> None:
    trace = Trace("t", "p", [Step("stock(2 * 3 = 6)", "tool_call"), Step("```\nx = 2 * 3 = 6\n```")])
    assert [edit(trace, Random(0)) for edit in (rephrase, renotate, praise)] == [None, None, None]


@pytest.mark.parametrize(
    ("text", "answer", "found"),
    [
        ("The answer is 14.", "4", "14"),
        ("With 4 boxes the answer is 14.", "4", "4"),
        (r"So \boxed{1,080} dollars of 2000.", None, "1,080"),
        (r"So the answer is $\frac{2}{11}$.", None, r"\frac{2}{11}"),
        ("It is 3/2 hours.", "3/2", "3/2"),
        ("It is 272.", None, "272"),
        ("Nothing here.", "7", None),
    ],
)
def test_the_final_answer_is_found(text: str, answer: str | None, found: str | None) -> None:
    span = answer_span(text, answer)
    assert (span and text[slice(*span)]) == found


def test_a_wrong_answer_is_made_right_where_the_place_can_hold_it() -> None:
    answers = right_answers(WORLD)
    wrong = next(t for t in WORLD if t.final_answer_correct is False)
    mended = with_right_answer(wrong, answers[wrong.problem_id])
    assert mended is not None
    assert mended.steps[-1].text == f"The answer is {wrong.reference_answer}."
    assert with_right_answer(step("So $z > 6$."), "z > -6") is None


def test_a_chain_is_right_where_its_parts_were() -> None:
    chains = list(make_chains(WORLD, 100, 20, Random(0)))
    assert len(chains) == 20
    wrong = 0
    for chain in chains:
        trace, error = chain.trace, first_error(chain.trace)
        assert len(chain.rows) == len(trace.steps)
        assert error is not None
        assert [p < 0.5 for p in perfect(trace)[: error + 1 or None]].count(True) == (error >= 0)
        assert error < 0 or perfect(trace)[error] < 0.5
        assert error >= 0 or len(trace.steps) >= 100
        wrong += error >= 0
    assert wrong == 10


def test_too_few_right_solutions_make_no_long_chain() -> None:
    assert list(make_chains(WORLD[:6], 100, 5, Random(0))) == []
