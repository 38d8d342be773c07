"""Sets of labelled solutions as tables: problems stay together, and a prediction is judged as ProcessBench does."""

from pathlib import Path

import numpy as np
import pytest

from prm.errors import DataError
from prm.reproducing.sets import LabelledSet, first_below, read_sets
from prm.traces import Step, Trace, write_traces


def labelled_set(errors: list[int], *, steps: int = 3, per_problem: int = 2) -> LabelledSet:
    """Solutions with these first errors, `per_problem` of them to each problem, and longer texts at the errors."""
    traces = [
        Trace(
            id=f"s{n}",
            problem=f"p{n // per_problem}",
            steps=[Step("x" * (9 if k == error else 3)) for k in range(steps)],
            first_error=error,
        )
        for n, error in enumerate(errors)
    ]
    return LabelledSet("small", traces, np.array(errors), [trace.problem for trace in traces])


def test_parts_and_draws_divide_no_problem() -> None:
    labelled = labelled_set([-1, 0, 1, 2] * 5)
    folds = labelled.folds(3, seed=4)
    assert sorted(np.concatenate(folds).tolist()) == list(range(20))
    assert all({row // 2 for row in fold}.isdisjoint({row // 2 for row in folds[0]}) for fold in folds[1:])
    places, others = labelled.draw(5, seed=1)
    assert len(places) == 5
    assert {row // 2 for row in places}.isdisjoint({row // 2 for row in np.flatnonzero(others)})


def test_the_first_step_below_the_threshold_is_the_prediction() -> None:
    labelled = labelled_set([1, -1, 0])
    scores = np.array([[0.9, 0.2, 0.1], [0.9, 0.8, 0.7], [0.9, 0.2, np.nan]])
    assert first_below(scores, 0.5).tolist() == [1, -1, 1]
    assert labelled.judged(scores, 0.5).exact.tolist() == [1, 1, 0]
    assert labelled.judged(scores, np.array([0.15, 0.75, 0.5])).exact.tolist() == [0, 0, 0]


def test_a_solution_with_an_unscored_step_is_a_miss() -> None:
    scores = np.array([[0.9, 0.2, np.nan]])
    assert labelled_set([1]).judged(scores, 0.5).exact.tolist() == [0]
    assert labelled_set([1], steps=2).judged(scores[:, :2], 0.5).exact.tolist() == [1]


def test_steps_count_up_to_the_first_error() -> None:
    labelled = labelled_set([1, -1])
    assert labelled.counted.tolist() == [[True, True, False], [True, True, True]]
    assert labelled.wrong.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert labelled.chars.tolist() == [[3, 9, 3], [3, 3, 3]]


def test_files_are_sets_named_apart_and_drawn_by_problem(tmp_path: Path) -> None:
    files = [tmp_path / name / "math.jsonl" for name in ("one", "two")]
    for path in files:
        path.parent.mkdir()
        write_traces(path, labelled_set([-1, 0] * 6).traces)
    one, two = read_sets(files, most=4, seed=0)
    assert (one.name, two.name) == ("one/math", "two/math")
    assert len(one.traces) == 4
    assert len(set(one.groups)) == 2
    assert not one.teaches


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    write_traces(tmp_path / "plain.jsonl", [Trace(id="a", problem="p", steps=[Step("x")])])
    with pytest.raises(DataError, match="no solution has a known first error"):
        read_sets([tmp_path / "plain.jsonl"], None, 0)
