"""Grades that are missing or false, and nothing else of the solutions."""

import msgspec

from prm.sandbox import WorldConfig, generate
from research.faulty_grades import Grades


def test_grades_are_left_out_or_false_in_the_shares_that_a_row_names() -> None:
    traces = list(generate(WorldConfig(), split="pool", n=1500, seed=5))
    given = Grades(share=0.5, false=0.2, domain="agents").given(traces, seed=1)
    pairs = [
        (before.final_answer_correct, after.final_answer_correct)
        for before, after in zip(traces, given, strict=True)
        if before.domain != "agents"
    ]
    shown = [(before, after) for before, after in pairs if after is not None]
    assert 0.4 < len(shown) / len(pairs) < 0.6
    assert 0.12 < sum(before != after for before, after in shown) / len(shown) < 0.28
    assert all(after.final_answer_correct is None for after in given if after.domain == "agents")
    as_before = [
        msgspec.structs.replace(after, final_answer_correct=before.final_answer_correct)
        for before, after in zip(traces, given, strict=True)
    ]
    assert as_before == traces
    assert Grades().given(traces, seed=1) == traces
