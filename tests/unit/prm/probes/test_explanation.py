"""A score explained: by labelled steps that stand near, and by parts that sum to the whole way."""

import json
from pathlib import Path

import msgspec
import pytest
import torch

from prm.__main__ import main
from prm.config import TrainConfig
from prm.errors import DataError, ModelFileError
from prm.probes.neighbours import FILE, Neighbours, agreement, explain, moved_by, places_of, step_features_of
from prm.scoring import Scorer
from prm.traces import Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def model(request, backbone_folders, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("explained")
    write_traces(folder / "data.jsonl", make_traces(40, seed=0))
    config = TrainConfig(base=str(backbone_folders["llama"]), epochs=2, heads=3, hidden=8, classes=request.param)
    train(data=folder / "data.jsonl", out=folder / "model", config=config, report=lambda progress: None)
    return folder / "model"


@pytest.fixture(scope="module")
def training(model: Path) -> Path:
    return model.parent / "data.jsonl"


@pytest.fixture(scope="module")
def scorer(model: Path) -> Scorer:
    return Scorer.load(model, device="cpu")


@pytest.fixture(scope="module")
def neighbours(scorer: Scorer, training: Path) -> Neighbours:
    return Neighbours.build(scorer, training)


def test_a_training_step_is_its_own_nearest_neighbour_at_distance_0(scorer, neighbours):
    trace = make_traces(40, seed=0)[5]
    [explanation] = explain(scorer, neighbours, [trace], k=1)
    labelled = [view for view, label in zip(explanation.steps, trace.labels, strict=True) if label is not None]
    for view in labelled:
        [near] = view.neighbours
        assert near.distance == pytest.approx(0, abs=0.02)  # batches round differently, and places are halves
        assert (near.trace_id, near.position, near.step) == (trace.id, view.position, trace.steps[view.position])
        assert near.label == trace.labels[view.position]


def test_the_search_is_exact_and_nearest_first(neighbours, monkeypatch):
    monkeypatch.setattr("prm.probes.neighbours.BLOCK", 17)
    queries = neighbours.places[:9].float() + 0.1
    distances, indices = neighbours.nearest(queries, 4)
    expected = (queries[:, None] - neighbours.places.float()[None]).norm(dim=2).sort(dim=1)
    torch.testing.assert_close(distances, expected.values[:, :4])
    assert indices.tolist() == expected.indices[:, :4].tolist()


def test_steps_without_a_label_explain_nothing(neighbours, training):
    traces = make_traces(40, seed=0)
    assert len(neighbours.places) == sum(label is not None for trace in traces for label in trace.labels or [])


def test_what_moved_a_score_sums_to_the_whole_way(scorer):
    rows = torch.cat(step_features_of(scorer, make_traces(3, seed=8)))
    total = sum(moved_by(scorer, rows).values())
    with torch.no_grad():
        centre = scorer.readout.heads.centre[None]
        way = scorer.readout.step_logits(rows).mean(0) - scorer.readout.step_logits(centre).mean(0)
    torch.testing.assert_close(total, way, atol=0.02, rtol=0.02)


def test_scores_are_those_of_the_scorer(scorer, neighbours):
    traces = make_traces(4, seed=9)
    for explanation, score in zip(explain(scorer, neighbours, traces), scorer.score(traces), strict=True):
        assert [view.score for view in explanation.steps] == pytest.approx(score.mean)
        assert [view.spread for view in explanation.steps] == pytest.approx(score.spread)


def test_what_was_kept_is_found_again(scorer, neighbours, tmp_path):
    neighbours.save(tmp_path / FILE)
    kept = Neighbours.load(tmp_path / FILE, scorer)
    assert torch.equal(kept.places, neighbours.places)
    assert torch.equal(kept.rows, neighbours.rows)
    assert kept.origin == neighbours.origin


def test_places_of_other_weights_and_a_changed_training_file_are_refused(scorer, neighbours, tmp_path):
    other = Neighbours(
        msgspec.structs.replace(neighbours.origin, weights_sha256="other"),
        neighbours.places,
        neighbours.labels,
        neighbours.rows,
    )
    other.save(tmp_path / "other")
    with pytest.raises(ModelFileError, match="other weights"):
        Neighbours.load(tmp_path / "other", scorer)
    gone = msgspec.structs.replace(neighbours.origin, training=str(tmp_path / "gone.jsonl"))
    Neighbours(gone, neighbours.places, neighbours.labels, neighbours.rows).save(tmp_path / "gone")
    with pytest.raises(ModelFileError, match="missing or changed"):
        Neighbours.load(tmp_path / "gone", scorer)


def test_a_file_without_labels_and_a_scorer_without_labels_explain_nothing(scorer, training, tmp_path):
    write_traces(tmp_path / "bare.jsonl", [Trace("a", "?", make_traces(1, seed=0)[0].steps)])
    with pytest.raises(DataError, match="no solution in the pool has a labelled step"):
        Neighbours.build(scorer, tmp_path / "bare.jsonl")
    with pytest.raises(ModelFileError, match="without labels"):
        places_of(Scorer.for_base("tiny", device="cpu"), torch.zeros(1, 15))


def test_agreement_is_a_correlation_and_unknown_where_nothing_varies():
    assert agreement([0, 0.5, 1], [0.1, 0.2, 0.3]) == pytest.approx(1)
    assert agreement([1, 1], [0.1, 0.2]) is None
    assert agreement([1], [0.1]) is None


def test_the_command_keeps_the_places_and_names_one_trace(model, training, tmp_path, capsys):
    write_traces(tmp_path / "new.jsonl", make_traces(3, seed=9, prefix="n"))
    arguments = ["explain", "--model", str(model), "--data", str(tmp_path / "new.jsonl")]
    assert main(arguments) == 2
    assert "give the training data with" in capsys.readouterr().err
    assert main([*arguments, "--training", str(training), "--json", str(tmp_path / "why.jsonl")]) == 0
    assert len((tmp_path / "why.jsonl").read_text().splitlines()) == 3
    assert "steps" in json.loads((tmp_path / "why.jsonl").read_text().splitlines()[0])
    capsys.readouterr()
    assert main([*arguments, "--trace", "n1"]) == 0
    printed = capsys.readouterr().out
    assert "n1: Add" in printed
    assert "n2" not in printed
    assert main([*arguments, "--trace", "none"]) == 2
