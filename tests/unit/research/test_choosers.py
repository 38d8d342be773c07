"""The choosers of the research: known values, and gradients as torch computes them."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from prm.acquisition.functions import verdicts
from prm.config import TrainConfig
from prm.heads import Readout
from prm.simulation.learning import Model
from prm.threshold import Threshold
from research import choosers

RNG = np.random.default_rng(0)
STEPS = np.array([3, 1, 4])


@pytest.fixture(scope="module")
def model() -> Model:
    torch.manual_seed(0)
    readout = Readout(TrainConfig(heads=5, hidden=4, dropout=0.2), 6)
    return Model(readout.eval(), temperature=1.3, threshold=Threshold(0.5))


@pytest.fixture(scope="module")
def rows() -> Tensor:
    return torch.randn(int(STEPS.sum()), 6, generator=torch.Generator().manual_seed(1))


def test_epig_is_the_mutual_information_of_a_verdict_and_a_target() -> None:
    p, right = RNG.random((3, 4)), RNG.random(4)
    q = verdicts(p)
    joint = np.stack([q @ right, q @ (1 - right)]) / 4
    apart = joint.sum(axis=0, keepdims=True) * joint.sum(axis=1, keepdims=True)
    epig = choosers.Epig()
    epig.targets = right[None]
    assert epig(p) == pytest.approx((joint * np.log(joint / apart)).sum() ** 0.5)
    epig.targets = np.full((2, 4), 0.3)
    assert epig(p) == pytest.approx(0, abs=1e-7)


def test_members_without_dropout_are_the_heads(model: Model, rows: Tensor) -> None:
    heads = choosers.heads_of(model)
    heads.dropout = 0.0
    p = choosers.members(model, rows, 3)
    heads.dropout = 0.2
    np.testing.assert_allclose(p, np.tile(model.heads(rows), choosers.MASKS), atol=1e-6)
    assert p.std() > 0


def test_a_mask_is_the_same_for_every_solution(model: Model, rows: Tensor) -> None:
    whole = choosers.members(model, rows, 3)
    np.testing.assert_allclose(choosers.members(model, rows[3:], 3), whole[3:], atol=1e-6)
    assert not np.allclose(choosers.members(model, rows, 4), whole)


def test_gradients_are_those_of_the_most_probable_verdict(model: Model, rows: Tensor) -> None:
    ours = choosers.gradients(model, rows, STEPS)
    heads = choosers.heads_of(model)
    for number, (begin, end) in enumerate(pairwise([0, *np.cumsum(STEPS)])):
        logits = heads(rows[begin:end])
        p = torch.sigmoid(logits).detach().numpy().T
        verdict = int(verdicts(p).mean(axis=1).argmax())
        read = logits[:, : verdict + 1]
        label = torch.ones_like(read)
        label[:, verdict : verdict + 1] = 0
        loss = nn.functional.binary_cross_entropy_with_logits(read, label, reduction="sum")
        (wanted,) = torch.autograd.grad(loss, heads.leave)
        np.testing.assert_allclose(ours[number], wanted.flatten().numpy(), atol=1e-5)


def test_the_spread_has_one_of_a_problem_and_begins_with_the_longest() -> None:
    points, problem = RNG.normal(size=(30, 4)), np.arange(30) // 3
    chosen = choosers.spread(points, problem, 10, np.random.default_rng(1))
    assert chosen[0] == (points**2).sum(axis=1).argmax()
    assert sorted(problem[chosen]) == list(range(10))
