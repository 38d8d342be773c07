"""The report that a run keeps of its models, and its headline."""

from pathlib import Path

import msgspec

from annotation.loop.gateway.measuring import compare, headline, report
from prm.config import TrainConfig
from prm.manifest import MANIFEST_FILE, WEIGHTS_FILE, Counts, Manifest, file_sha256
from prm.scores import write_scores
from prm.threshold import Threshold
from prm.traces import write_traces
from tests.unit.prm.evaluation.hand_made import HAND_MADE


def model_folder(folder: Path, temperature: float) -> Path:
    folder.mkdir()
    (folder / WEIGHTS_FILE).write_bytes(b"weights")
    manifest = Manifest(
        base="tiny",
        base_sha256="b",
        config=TrainConfig(),
        data_sha256="d",
        counts=Counts(1, 1, 0, 1, 1.0, 0.0, 0, 0),
        temperature=temperature,
        threshold=Threshold(0.5),
        fitted_on="none",
        metrics={},
        created_at="",
        seconds=0.0,
        versions={},
        checksums={WEIGHTS_FILE: file_sha256(folder / WEIGHTS_FILE)},
    )
    (folder / MANIFEST_FILE).write_bytes(msgspec.json.encode(manifest))
    return folder


def test_a_trained_model_is_measured_before_its_temperature_too(tmp_path: Path) -> None:
    data, scores = tmp_path / "data.jsonl", tmp_path / "scores.jsonl"
    write_traces(data, [trace for trace, _ in HAND_MADE])
    write_scores(scores, [score for _, score in HAND_MADE])
    trained = report(data, scores, model=model_folder(tmp_path / "model", 2.0), threshold=Threshold(0.5), seed=0)
    untrained = report(data, scores, model=None, threshold=Threshold(0.5), seed=0)
    assert headline(trained) == headline(untrained)
    assert headline(trained).startswith("ProcessBench F1 33.3\xa0% (")
    assert trained.overall.raw_brier.value != trained.overall.brier.value
    assert untrained.overall.raw_brier is None


def test_solutions_that_chose_the_champion_can_be_left_out(tmp_path: Path) -> None:
    data, scores = tmp_path / "data.jsonl", tmp_path / "scores.jsonl"
    traces = [trace for trace, _ in HAND_MADE]
    write_traces(data, traces)
    write_scores(scores, [score for _, score in HAND_MADE])
    given = {"challenger": scores, "rival": scores, "thresholds": (Threshold(0.5), Threshold(0.5)), "seed": 0}
    every = compare(data, **given)
    assert every is not None
    fewer = compare(data, **given, without={traces[0].id})
    assert fewer is not None
    assert fewer.n_solutions == every.n_solutions - 1
    assert compare(data, **given, without={trace.id for trace in traces}) is None
