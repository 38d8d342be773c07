"""Losses, targets, heads and calibration: known answers."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from prm.calibration import fit_temperature, fit_threshold
from prm.heads import Heads, bootstrap_weights, good_logit
from prm.labels import BAD, GOOD, first_error, step_labels, step_target
from prm.threshold import UNFITTED
from prm.traces import Step, StepLabel, Trace
from prm.training.objective import class_log_probabilities, soft_cross_entropy


@pytest.mark.parametrize(
    ("policy", "good", "weight"), [("positive", 0.7, 0.5), ("negative", 0.5, 0.5), ("drop", 0.625, 0.4)]
)
def test_neutral_policies(policy, good: float, weight: float) -> None:
    target = step_target(StepLabel(0.5, 0.2, 0.3, weight=0.5), policy)
    assert target == pytest.approx((good, weight))
    assert step_target(None, policy).weight == 0
    assert step_target(StepLabel(0, 1, 0), "drop").weight == 0


def test_cross_entropy_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    targets, weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]]), torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    log_p = class_log_probabilities(logits, torch.zeros(2))
    expected = (math.log(2) + 2 * math.log(4 / 3) + math.log(2)) / 4
    assert soft_cross_entropy(log_p, targets, weights).item() == pytest.approx(expected)
    assert soft_cross_entropy(log_p, targets, torch.zeros(2, 2)).item() == 0


def test_steps_after_a_known_first_error_are_unlabelled() -> None:
    steps = [Step("s")] * 3
    assert step_labels(Trace("a", "p", steps, first_error=1)) == [GOOD, BAD, None]
    assert step_labels(Trace("a", "p", steps, first_error=-1)) == [GOOD] * 3
    assert step_labels(Trace("a", "p", steps)) == [None] * 3
    assert first_error(Trace("a", "p", steps, labels=[GOOD, BAD, GOOD])) == 1
    assert first_error(Trace("a", "p", steps, labels=[GOOD, None, BAD])) is None
    read = [Step("s"), Step("s", "observation"), Step("s")]
    assert first_error(Trace("a", "p", read, labels=[GOOD, None, BAD])) == 2, "nobody rates an observation"
    assert first_error(Trace("a", "p", read, labels=[GOOD, None, GOOD])) == -1
    assert first_error(Trace("a", "p", read, labels=[None, None, BAD])) is None
    assert first_error(Trace("a", "p", read[1:2], labels=[None])) is None


def test_heads_draw_whole_groups() -> None:
    weights = bootstrap_weights(["a", "b", "a", "c"], 50, seed=0)
    assert torch.equal(weights[:, 0], weights[:, 2])
    assert (weights[:, [0, 1, 3]].sum(1) == 3).all()
    assert torch.equal(weights, bootstrap_weights(["a", "b", "a", "c"], 50, seed=0))


def test_heads_compute_what_each_would_alone() -> None:
    heads = Heads(3, 5, 4, dropout=0.5).eval()
    rows = torch.randn(7, 5)
    for m, together in enumerate(heads(rows)):
        hidden = torch.nn.functional.gelu(rows @ heads.enter[m] + heads.enter_bias[m])
        alone = (hidden @ heads.leave[m] + heads.leave_bias[m]).squeeze(1)
        assert torch.allclose(together, alone, atol=1e-6)


def test_temperature_finds_how_overconfident_logits_are() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, 20_000)
    truth = (rng.random(20_000) < 1 / (1 + np.exp(-logits))).astype(float)
    assert fit_temperature(3 * logits[None], truth, np.ones(20_000)) == pytest.approx(3, rel=0.1)


@pytest.mark.parametrize("neutral", ["positive", "negative", "drop"])
def test_temperature_calibrates_what_is_read_off_three_classes(neutral) -> None:
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(0, 2, (20_000, 3)))
    truth = torch.distributions.Categorical(logits=logits).sample()
    label = [StepLabel(*row) for row in np.eye(3)]
    targets = [step_target(label[k], neutral) for k in truth.tolist()]
    good, weight = (np.array(values) for values in zip(*targets, strict=True))
    read = good_logit(logits[None], neutral).numpy()
    assert fit_temperature(read, good, weight) == pytest.approx(1, rel=0.05)
    assert fit_temperature(3 * read, good, weight) == pytest.approx(3, rel=0.05)
    if neutral == "drop":  # two of the three logits: as overconfident as they are
        over = good_logit(3 * logits[None], neutral).numpy()
        assert fit_temperature(over, good, weight) == pytest.approx(3, rel=0.05)


def test_threshold_separates_and_falls_back() -> None:
    scores = [np.array([0.9, 0.3]), np.array([0.8, 0.85]), np.array([0.2])]
    assert 0.3 < fit_threshold(scores, [1, -1, 0]).value <= 0.8
    assert fit_threshold(scores, [-1, -1, -1]) == UNFITTED
    assert fit_threshold([], []) == UNFITTED


def test_what_the_web_process_imports_has_no_torch() -> None:
    modules = "traces encoding errors acquisition evaluation calibration cards config manifest scores labels"
    code = f"import sys; [__import__('prm.' + m) for m in {modules.split()!r}]; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
