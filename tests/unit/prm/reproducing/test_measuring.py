"""A threshold that is wrong elsewhere is shown as such, and a rule that survives the change as well."""

import numpy as np
import pytest

from prm.reproducing.judging import Scores, simple_judge
from prm.reproducing.measuring import measure_abstention, measure_judges
from prm.reproducing.sets import LabelledSet
from prm.reproducing.thresholds import CARRIED, SHARE, flags_share, from_labels, share_flagged
from tests.unit.prm.reproducing.test_sets import labelled_set

pytestmark = pytest.mark.torch


@pytest.fixture
def target() -> LabelledSet:
    return labelled_set([-1, 0, 1, 2] * 30)


def shifted(labelled: LabelledSet, by: float) -> Scores:
    """Perfect scores, all moved by the same amount; the threshold is that of scores which were not moved."""
    steps = 0.8 - 0.6 * labelled.wrong + by
    return Scores(steps, np.full(len(steps), 0.5), share=0.75)


def test_share_and_labels_survive_a_shift_that_breaks_the_threshold(target: LabelledSet) -> None:
    source = labelled_set([-1, 0] * 30)
    lines = measure_judges(
        source, target, {"length alone": [shifted(target, 0.0)], "heads": [shifted(target, 0.4)]}, ["length alone"], 50
    )
    simple, heads = lines
    assert simple.f1[CARRIED].value == 1
    assert heads.f1[CARRIED].value == 0
    assert heads.f1[SHARE].value == heads.f1["20 labels"].value == 1
    assert heads.auroc.value == 1
    assert heads.over_simple.value == 0
    assert "100 labels" not in heads.f1  # they would leave less than half of the set


def test_flagging_a_share_is_the_inverse_of_counting_it() -> None:
    scores = np.random.default_rng(0).random((1000, 4))
    assert share_flagged(scores, flags_share(scores, 0.3).value) == pytest.approx(0.3, abs=0.002)


def test_the_share_of_labels_is_that_of_their_errors(target: LabelledSet) -> None:
    scores = shifted(target, 0.0).steps + np.random.default_rng(0).random(target.chars.shape) * 0.01
    threshold = from_labels("labels' share", target, scores, np.arange(40))
    assert share_flagged(scores, threshold.value) == pytest.approx(31 / 42, abs=0.01)


def test_a_simple_score_learns_only_its_threshold(target: LabelledSet) -> None:
    judge = simple_judge(lambda labelled: -labelled.chars)
    across = judge(labelled_set([-1, 2] * 20), target, 0)
    assert -9 < across.carried[0] < -3
    within = judge(target, target, 0)
    assert measure_judges(target, target, {"length alone": [within]}, ["length alone"], 20)[0].f1[CARRIED].value == 1


def test_an_unreachable_accuracy_withholds_every_verdict(target: LabelledSet) -> None:
    scores = shifted(target, 0.0)
    doubtful = Scores(scores.steps, scores.carried, scores.share, np.full((*scores.steps.shape, 2), 0.5), bar=None)
    (line,) = measure_abstention(labelled_set([-1, 0] * 30), target, "heads", [doubtful], 0.7, 20)
    assert line.labels == 0
    assert line.coverage.value == 0
    assert line.accuracy.value is None
    assert line.accuracy_without.value == 1
