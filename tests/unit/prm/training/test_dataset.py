"""What is learned from and what thresholds are fitted on are never the same solutions."""

from operator import eq
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.config import TrainConfig
from prm.errors import DataError
from prm.labels import BAD, GOOD, source_groups
from prm.traces import Alternative, Step, StepLabel, Trace, write_traces
from prm.training.dataset import read_training_data
from tests.unit.prm.small_world import make_traces


def parted(tmp_path: Path, traces: list[Trace]) -> tuple[list[Trace], list[Trace], str]:
    write_traces(tmp_path / "data.jsonl", traces)
    data = read_training_data(tmp_path / "data.jsonl", TrainConfig())
    return data.fit, data.held, data.held_from


def test_thresholds_are_fitted_on_the_calibration_split_alone_where_it_suffices(tmp_path: Path) -> None:
    pool, calibration = make_traces(30, seed=1), make_traces(60, seed=2, split="calibration", prefix="c")
    assert parted(tmp_path, pool + calibration) == (pool, calibration, "calibration")


def test_else_whole_source_groups_of_the_pool_are_set_aside_and_not_learned_from(tmp_path: Path) -> None:
    pool = [msgspec.structs.replace(t, source_group=f"g{i // 3}") for i, t in enumerate(make_traces(90, seed=1))]
    few = make_traces(3, seed=2, split="calibration", prefix="c")
    fit, held, held_from = parted(tmp_path, pool + few)
    assert held_from == "validation"
    assert [trace for trace in held if trace.split == "calibration"] == few
    aside = [trace for trace in held if trace.split == "pool"]
    assert len(aside) > 0.1 * len(pool)
    assert not {trace.source_group for trace in aside} & {trace.source_group for trace in fit}
    assert sorted(trace.id for trace in fit + aside) == sorted(trace.id for trace in pool)


def test_a_problem_that_came_in_twice_under_two_ids_is_not_torn(tmp_path: Path) -> None:
    texts = [msgspec.structs.replace(t, problem=f"problem {i // 2}") for i, t in enumerate(make_traces(80, seed=1))]
    fit, held, held_from = parted(tmp_path, texts)
    assert held_from == "validation"
    assert not {trace.problem for trace in held} & {trace.problem for trace in fit}


def test_groups_merge_by_way_of_others_and_keep_a_group_name() -> None:
    def trace(group: str, problem_id: str, text: str) -> Trace:
        return Trace("t", text, [], source_group=group, problem_id=problem_id)

    traces = [
        trace("g", "1", "x"),
        trace("h", "2", "y"),
        trace("i", "2", "x"),
        trace("k", "3", "z"),
        trace("", "4", "w"),
    ]
    assert source_groups(traces) == ["g", "g", "g", "k", "4"]


small = st.integers(0, 6)


@given(st.lists(st.tuples(small, small, small), max_size=12))
def test_groups_are_the_connected_parts(keys) -> None:
    traces = [Trace("t", f"text {c}", [], source_group=f"g{a}", problem_id=f"p{b}") for a, b, c in keys]
    parts: list[set[int]] = []
    for i, key in enumerate(keys):
        met = [part for part in parts if any(any(map(eq, key, keys[j])) for j in part)]
        parts = [part for part in parts if part not in met] + [set().union({i}, *met)]
    names = source_groups(traces)
    assert {frozenset(i for i, name in enumerate(names) if name == one) for one in names} == set(map(frozenset, parts))
    assert all(name in {f"g{a}" for a, _, _ in keys} for name in names)


def test_a_problem_of_the_calibration_split_does_not_teach(tmp_path: Path) -> None:
    pool, calibration = make_traces(30, seed=1), make_traces(60, seed=2, split="calibration", prefix="c")
    pool[3] = msgspec.structs.replace(pool[3], problem=calibration[0].problem)
    pool[5] = msgspec.structs.replace(pool[5], problem_id=calibration[1].problem_id)
    write_traces(tmp_path / "data.jsonl", pool + calibration)
    data = read_training_data(tmp_path / "data.jsonl", TrainConfig())
    assert data.left_out == 2
    assert data.fit == [trace for i, trace in enumerate(pool) if i not in (3, 5)]


def test_solutions_without_steps_or_without_weight_are_passed_over(tmp_path: Path) -> None:
    whole = make_traces(30, seed=1)
    empty = Trace("empty", "p", [], labels=[], first_error=-1, final_answer_correct=True)
    weightless = Trace("weightless", "p", [Step("x")], labels=[StepLabel(1, 0, 0, weight=0)])
    for config in (TrainConfig(), TrainConfig(outcome_weight=1.0)):
        answered = [msgspec.structs.replace(t, final_answer_correct=t.first_error < 0) for t in whole]
        write_traces(tmp_path / "data.jsonl", [empty, *answered, weightless])
        data = read_training_data(tmp_path / "data.jsonl", config)
        assert sorted(trace.id for trace in data.fit + data.held) == sorted(trace.id for trace in whole)


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (Trace("a", "p", [Step("x")], labels=[GOOD], alternatives=[Alternative(0, Step("y"), GOOD)]), "labelled bad"),
        (Trace("a", "p", [Step("x")], labels=[StepLabel(0, 0, 1, weight=0)]), "no solution in the pool has a labelled"),
        (Trace("a", "p", []), "no solution in the pool has a labelled"),
    ],
    ids=["no bad label", "all weights zero", "no steps"],
)
def test_what_teaches_nothing_is_refused(trace: Trace, reason: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=reason):
        parted(tmp_path, [trace])


def test_the_only_error_may_stand_beside_the_path(tmp_path: Path) -> None:
    trace = Trace("a", "p", [Step("x")], labels=[GOOD], alternatives=[Alternative(0, Step("y"), BAD)])
    assert parted(tmp_path, [trace]) == ([trace], [], "none")


def test_an_alternative_of_no_position_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text(
        '{"id":"a","problem":"p","steps":[{"text":"x"}],"alternatives":[{"position":2,"step":{"text":"y"}}]}\n'
    )
    with pytest.raises(DataError, match=r"data.jsonl, line 1: .*position 2, but the solution has 1 step$"):
        read_training_data(tmp_path / "data.jsonl", TrainConfig())
