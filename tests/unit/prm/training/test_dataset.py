"""What is learned from and what thresholds are fitted on are never the same solutions."""

from pathlib import Path

import msgspec

from prm.config import TrainConfig
from prm.traces import Trace, write_traces
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
