"""A model whose threshold is fitted again keeps its scores, and says what its threshold was fitted on."""

import msgspec
import numpy as np
import pytest

from prm.calibration import fit_threshold_on
from prm.config import TrainConfig
from prm.errors import DataError, ModelFileError
from prm.labels import first_error, without_labels
from prm.manifest import read_manifest
from prm.recalibration import recalibrate
from prm.scoring import Scorer
from prm.traces import Step, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

LABELLED = make_traces(110, seed=11, prefix="other")
GRADED = [
    msgspec.structs.replace(without_labels(trace, trace.steps), final_answer_correct=number % 4 > 0)
    for number, trace in enumerate(LABELLED[:60])
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    root = tmp_path_factory.mktemp("recalibration")
    write_traces(root / "data.jsonl", make_traces(24, seed=3))
    train(data=root / "data.jsonl", out=root / "model", config=TrainConfig(heads=2, hidden=8, epochs=1))
    return root / "model"


def scores_of(model, traces):
    return list(Scorer.load(model, device="cpu").score(traces))


def test_labels_fit_threshold_and_abstention_limit(tmp_path, model):
    write_traces(tmp_path / "labelled.jsonl", LABELLED)
    manifest = recalibrate(model, tmp_path / "out", data=tmp_path / "labelled.jsonl")
    scores = scores_of(model, LABELLED)
    assert manifest == read_manifest(tmp_path / "out")
    assert manifest.threshold == fit_threshold_on(LABELLED, scores) != read_manifest(model).threshold
    assert (manifest.fitted_on, manifest.counts.held_solutions) == ("labels", 110)
    assert manifest.trust.abstention.solutions == 110
    assert scores_of(tmp_path / "out", LABELLED) == scores
    assert "were fitted on labelled solutions of another file (110 solutions)" in (tmp_path / "out/CARD.md").read_text()


def test_solutions_with_one_id_keep_their_own_scores(model):
    scores = scores_of(model, LABELLED)
    renamed = [msgspec.structs.replace(trace, id="a") for trace in LABELLED]
    assert fit_threshold_on(renamed, scores_of(model, renamed)) == fit_threshold_on(LABELLED, scores)


def test_without_labels_as_many_are_flagged_as_the_grades_suggest(tmp_path, model):
    write_traces(tmp_path / "graded.jsonl", GRADED)
    manifest = recalibrate(model, tmp_path / "out", data=tmp_path / "graded.jsonl")
    assert (manifest.fitted_on, manifest.counts.held_solutions) == ("grades", 60)
    assert manifest.trust is None or manifest.trust.abstention is None
    flagged = np.mean([manifest.threshold.first_below(score.mean) >= 0 for score in scores_of(model, GRADED)])
    suggested = 0.25 * 0.98 + 0.75 * 0.15  # of wrong and of right answers, with the prior answer noise
    assert flagged == pytest.approx(suggested, abs=1 / 60)


def test_few_labels_only_count_errors(tmp_path, model):
    few = [*[t for t in LABELLED if first_error(t) == -1][:18], *[t for t in LABELLED if first_error(t) >= 0][:12]]
    write_traces(tmp_path / "few.jsonl", few)
    manifest = recalibrate(model, tmp_path / "out", data=tmp_path / "few.jsonl")
    flagged = np.mean([manifest.threshold.first_below(score.mean) >= 0 for score in scores_of(model, few)])
    assert flagged == pytest.approx((12 + 1) / (30 + 2), abs=1 / 30)
    assert manifest.fitted_on == "labels"
    assert manifest.trust is None or manifest.trust.abstention is None


def test_too_few_solutions_are_refused_and_nothing_is_left(tmp_path, model):
    write_traces(tmp_path / "few.jsonl", [*GRADED[:19], next(t for t in LABELLED if first_error(t) == -1)])
    refused = r"first error \(1\) or a graded final answer \(19\) are too few; a threshold needs 20 of one kind"
    with pytest.raises(DataError, match=refused):
        recalibrate(model, tmp_path / "out", data=tmp_path / "few.jsonl")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ModelFileError, match="exists and is not an empty folder"):
        recalibrate(model, model, data=tmp_path / "few.jsonl")


def test_solutions_beyond_the_context_do_not_count(tmp_path, model):
    long = [msgspec.structs.replace(trace, steps=[Step("1 + 1 = 2. " * 2000)], labels=None) for trace in GRADED[:30]]
    write_traces(tmp_path / "long.jsonl", long)
    with pytest.raises(DataError, match=r"long.jsonl: .* are too few"):
        recalibrate(model, tmp_path / "out", data=tmp_path / "long.jsonl")
    assert not (tmp_path / "out").exists()
