"""What of a snapshot is learned from, and what it is measured on."""

import msgspec
import pytest

from annotation.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from annotation.quality.consensus import consensus_of
from annotation.rounds.gateway.traces import write_holdout_traces, write_training_traces
from prm.traces import read_traces


def label(kind, *ratings):
    path = [
        PathPosition(position, chosen=None if rating == -1 else 0, ratings=[Rating(0, "rated", rating=rating)])
        for position, rating in enumerate(ratings)
    ]
    finish = "found_error" if -1 in ratings else "solution"
    return RecordAnnotation(source_kind=kind, source_name=kind, finish_reason=finish, path=path)


def record(split, *labels):
    return Record(
        problem=f"A problem of {split}",
        positions=[[Completion("one")], [Completion("two")]],
        problem_id=1,
        solution_id=1,
        split=split,
        annotations=list(labels),
        consensus=consensus_of(labels),
    )


def written(writer, tmp_path, *records):
    count = writer(records, tmp_path / "traces.jsonl")
    traces = list(read_traces(tmp_path / "traces.jsonl"))
    assert len(traces) == count
    return traces


def test_the_holdout_is_never_written_to_train_on(tmp_path):
    records = [record(split, label("human", 1, -1)) for split in ("pool", "calibration", "holdout")]
    assert [trace.split for trace in written(write_training_traces, tmp_path, *records)] == ["pool", "calibration"]
    assert [trace.split for trace in written(write_holdout_traces, tmp_path, *records)] == ["holdout"]


@pytest.mark.parametrize("machine", ["model_judge", "monte_carlo", "heuristic"])
def test_machines_may_teach_but_never_measure(tmp_path, machine):
    both = [label("human", 1, 1), label(machine, 1, -1), label(machine, 1, -1)]
    [taught] = written(write_training_traces, tmp_path, record("pool", *both))
    assert taught.labels[1].bad == pytest.approx(2 / 3)
    [measured] = written(write_holdout_traces, tmp_path, record("holdout", *both))
    assert [step.rating for step in measured.labels] == [1, 1]
    assert written(write_holdout_traces, tmp_path, record("holdout", *both[1:])) == []


@pytest.mark.parametrize("kind", ["human", "simulated", "consensus"])
def test_annotators_and_their_consensus_in_a_file_measure(tmp_path, kind):
    given = record("holdout", label(kind, 1, -1))
    before = msgspec.json.encode(given)
    [measured] = written(write_holdout_traces, tmp_path, given)
    assert [step.rating for step in measured.labels] == [1, -1]
    assert msgspec.json.encode(given) == before
