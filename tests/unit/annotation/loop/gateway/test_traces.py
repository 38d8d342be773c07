"""What of a snapshot is learned from, and what it is measured on."""

import msgspec
import pytest

from annotation.labels.consensus.consensus import consensus_of
from annotation.loop.gateway.traces import write_holdout_traces, write_training_traces
from prm.formats.prm800k import prm800k
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation
from prm.formats.trace_files import read_traces
from tests.real_data import real_data


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
    [fitted] = written(write_training_traces, tmp_path, record("calibration", *both))
    assert [step.rating for step in fitted.labels] == [1, 1]
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


def path_of(finish, *places, **fields):
    return RecordAnnotation(
        source_kind="human", source_name=str(places), finish_reason=finish, path=list(places), **fields
    )


def rated(position, *ratings, chosen=None):
    given = [Rating(alternative, "rated", rating=rating) for alternative, rating in enumerate(ratings)]
    return PathPosition(position, chosen=chosen, ratings=given)


def test_what_was_rated_beside_the_path_is_an_alternative_with_its_label(tmp_path):
    given = record("pool", path_of("found_error", rated(0, 1, chosen=0), rated(1, -1, 1, 0)))
    given.positions[1] += [Completion("2 it is", added=True), Completion("so, 2", added=True)]
    [trace] = written(write_training_traces, tmp_path, given)
    assert [(a.position, a.step.text, a.label.rating) for a in trace.alternatives] == [
        (1, "2 it is", 1),
        (1, "so, 2", 0),
    ]
    assert [label.rating for label in trace.labels] == [1, -1]


def test_a_rating_given_after_other_steps_than_the_path_has_is_left_out(tmp_path):
    here = path_of("found_error", rated(0, 1, -1, chosen=0), rated(1, -1))
    elsewhere = path_of(
        "found_error", rated(0, -1, 1, chosen=1), PathPosition(1, ratings=[Rating(1, "rated", rating=-1)])
    )
    given = record("pool", here, here, elsewhere)
    given.positions[0].append(Completion("uno", added=True))
    given.positions[1].append(Completion("due", added=True))
    [trace] = written(write_training_traces, tmp_path, given)
    assert [(a.position, a.step.text) for a in trace.alternatives] == [(0, "uno")]


def test_a_solution_goes_on_unlabelled_where_its_readers_stopped_and_keeps_its_outcome(tmp_path):
    given = record("pool", label("human", -1))
    given.final_answer_correct = False
    [trace] = written(write_training_traces, tmp_path, given)
    assert [step.text for step in trace.steps] == ["one", "two"]
    assert (trace.labels[0].rating, trace.labels[1], trace.final_answer_correct) == (-1, None, False)


def test_a_path_that_left_the_sampled_solution_says_nothing_of_its_final_answer(tmp_path):
    given = record("pool", path_of("solution", rated(0, -1, 1, chosen=1)))
    given.positions[0].append(Completion("uno", added=True))
    given.final_answer_correct = False
    [trace] = written(write_training_traces, tmp_path, given)
    assert ([step.text for step in trace.steps], trace.final_answer_correct) == (["uno"], None)


def test_real_records_give_their_alternatives_with_ratings(tmp_path):
    with open(real_data("prm800k/prm800k_real_records.jsonl"), "rb") as stream:
        records = [record for _, record in prm800k.read(stream)]
    for real in records:
        real.consensus, real.split = consensus_of(real.annotations), "pool"
    traces = written(write_training_traces, tmp_path, *records)
    at = [[(a.position, a.label.rating) for a in trace.alternatives] for trace in traces]
    assert at[0] == [(1, -1)] * 5 + [(5, 0), (5, 1), (5, 1), (5, 1)]
    assert traces[0].labels[1] is None  # the labeller's own step
    assert at[1] == [(6, 1)] * 3  # beside the error that ended the reading
    assert traces[1].labels[6].rating == -1
    assert len(traces[1].steps) > 7  # it goes on as sampled
    assert at[8] == [(2, 0), (2, -1), (2, 0), (2, 0)]


def test_a_trace_says_whose_labels_it_holds(tmp_path):
    person = msgspec.structs.replace(label("human", 1, -1), annotator="p-17", first_error=1)
    [trace] = written(write_training_traces, tmp_path, record("pool", person, label("model_judge", 1, 1)))
    assert [(source.kind, source.name, source.first_error) for source in trace.sources] == [
        ("human", "p-17", 1),
        ("model_judge", "model_judge", None),
    ]
