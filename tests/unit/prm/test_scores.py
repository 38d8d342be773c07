"""Blocks and solutions are scored from their steps' scores, and from nothing else."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import DataError
from prm.scores import (
    AGGREGATES,
    Aggregate,
    TraceScore,
    aggregate,
    aggregated,
    block_scores,
    block_starts,
    read_scores,
    write_scores,
)

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=40)
how = st.sampled_from(AGGREGATES)


def score_of(mean: list[float | None]) -> TraceScore:
    return TraceScore("t", [None if p is None else [p] for p in mean], mean, [None] * len(mean), None)


@pytest.mark.parametrize(("by", "value"), [("product", 0.045), ("min", 0.1), ("mean", 0.5), ("last", 0.5)])
def test_each_aggregate_of_a_known_solution(by: Aggregate, value: float) -> None:
    assert aggregate([0.9, 0.1, 0.5], by) == pytest.approx(value)
    assert aggregate([0.9, 0.1, 0.5, None], by) == pytest.approx(value), "steps beyond the context are left out"
    assert aggregate([None], by) is None
    assert aggregate([], by) is None


@given(scores=probabilities, by=how)
def test_an_aggregate_lies_between_zero_and_the_best_step(scores: list[float], by: Aggregate) -> None:
    value = aggregate(scores, by)
    assert value is not None
    assert 0 <= value <= max(scores) + 1e-12


@given(scores=probabilities, size=st.integers(1, 50))
def test_blocks_cover_every_step_once(scores: list[float], size: int) -> None:
    found = block_scores(scores, size, "product")
    assert len(found) == math.ceil(len(scores) / size)
    assert aggregate(found, "product") == pytest.approx(aggregate(scores, "product"))
    assert aggregate(block_scores(scores, size, "min"), "min") == aggregate(scores, "min")
    assert aggregate(block_scores(scores, size, "last"), "last") == scores[-1]


@given(scores=probabilities, more=probabilities, by=how, data=st.data())
def test_a_finished_block_does_not_change_when_the_solution_goes_on(
    scores: list[float], more: list[float], by: Aggregate, data: st.DataObject
) -> None:
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(scores) - 1)))})
    assert block_scores(scores + more, [*starts, len(scores)], by)[:-1] == block_scores(scores, starts, by)


def test_blocks_may_be_given_by_position() -> None:
    assert block_scores([0.9, 0.8, 0.7, 0.6], [0, 1], "min") == [0.9, 0.6]
    assert block_starts(5, 2) == [0, 2, 4]
    assert block_starts(0, [0]) == block_starts(0, 3) == []


def test_a_block_with_a_step_beyond_the_context_has_no_score() -> None:
    assert block_scores([0.9, 0.8, 0.7, None], 2) == [pytest.approx(0.72), None]


@pytest.mark.parametrize("blocks", [0, -1, [], [1], [0, 0], [0, 2, 1], [0, 4]])
def test_blocks_that_are_none_are_refused(blocks: int | list[int]) -> None:
    with pytest.raises(DataError, match="block"):
        block_scores([0.5] * 4, blocks)


def test_asking_for_blocks_changes_no_step_and_travels_through_a_file(tmp_path: Path) -> None:
    plain = score_of([0.9, 0.8, None])
    asked = aggregated(plain, by="min", blocks=2)
    assert (asked.solution, asked.blocks, asked.unscored) == (0.8, [0.8, None], 1)
    assert (asked.mean, asked.heads, asked.spread) == (plain.mean, plain.heads, plain.spread)
    write_scores(tmp_path / "scores.jsonl", [asked, plain])
    assert list(read_scores(tmp_path / "scores.jsonl")) == [asked, plain]
    assert "blocks" not in (tmp_path / "scores.jsonl").read_text().splitlines()[1]
