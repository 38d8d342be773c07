"""A solution's embedding: of its scored steps alone, the same however it was read, near for like and far for unlike."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from prm.config import TrainConfig
from prm.heads import Readout
from prm.scores import TraceScore
from prm.scoring import Scorer
from prm.scoring.embedding import EMBEDDING_WIDTH, Embedder, random_signs
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces


@pytest.fixture(scope="module", params=["qwen2", "tiny"])
def model(request: pytest.FixtureRequest, backbone_folders: dict[str, Path], tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_traces(folder / "data.jsonl", make_traces(40, seed=0))
    base = request.param if request.param == "tiny" else str(backbone_folders[request.param])
    config = TrainConfig(base=base, epochs=1, heads=3, hidden=8)
    train(data=folder / "data.jsonl", out=folder / "out", config=config, report=lambda progress: None)
    return folder / "out"


def embedded(scorer: Scorer, traces: list[Trace]) -> list[TraceScore]:
    return list(scorer.score(traces, embed=True))


def test_it_is_a_direction_given_when_asked_for_and_changes_no_score(model: Path) -> None:
    scorer, traces = Scorer.load(model, device="cpu"), make_traces(12, seed=5)
    plain, found = list(scorer.score(traces)), embedded(scorer, traces)
    assert all(score.embedding is None for score in plain)
    assert [msgspec.structs.replace(score, embedding=None) for score in found] == plain
    points = np.array([score.embedding for score in found])
    assert points.shape == (12, EMBEDDING_WIDTH)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)


def test_batch_mates_change_nothing(model: Path) -> None:
    scorer, traces = Scorer.load(model, device="cpu"), make_traces(12, seed=5)
    together = embedded(scorer, traces)
    scorer.local.token_budget = 1  # each alone
    for alone, crowd in zip(embedded(scorer, traces), together, strict=True):
        np.testing.assert_allclose(alone.embedding, crowd.embedding, atol=1e-3)


def test_steps_without_a_score_do_not_count_and_windows_do(model: Path) -> None:
    steps = [Step(f"{k} + 1 = {k + 1}") for k in range(60)]
    scorer = Scorer.load(model, device="cpu")
    scorer.backbone.context = 200
    [cut] = embedded(scorer, [Trace("t", "Add ones.", steps)])
    [prefix] = embedded(scorer, [Trace("t", "Add ones.", steps[: 60 - cut.unscored])])
    assert cut.unscored
    np.testing.assert_allclose(cut.embedding, prefix.embedding, atol=1e-4)
    scorer.long = "window"
    [whole] = embedded(scorer, [Trace("t", "Add ones.", steps)])
    assert (whole.unscored, len(whole.embedding)) == (0, EMBEDDING_WIDTH)
    assert np.abs(np.array(whole.embedding) - cut.embedding).max() > 1e-3
    [nothing] = embedded(scorer, [Trace("t", "Add ones. " * 200, steps)])
    assert (nothing.unscored, nothing.embedding) == (60, None)


def test_many_at_once_are_each_alone() -> None:
    rows, steps = (
        torch.randn(300, 40, generator=torch.Generator().manual_seed(0)),
        torch.tensor([0, *[2, 3] * 59, 0, 5]),
    )
    readout = Readout(TrainConfig(heads=2, hidden=4), 40)
    readout.standardise_on(rows[:50])
    embedder = Embedder(readout)
    found = embedder.embed_all(rows, steps)
    alone = [embedder.embed(part) for part in rows.split(steps.tolist())]
    assert [one is None for one in alone] == np.isnan(found).any(axis=1).tolist()
    np.testing.assert_allclose(found[steps > 0], [one for one in alone if one is not None], atol=1e-6)


def test_like_solutions_lie_nearer_than_unlike_ones(model: Path) -> None:
    sums = make_traces(6, seed=5)
    other = [
        Trace(f"w{k}", "Write a poem.", [Step("Roses are red, " * (k + 1)), Step("violets blue?")]) for k in range(6)
    ]
    points = np.array([score.embedding for score in embedded(Scorer.load(model, device="cpu"), sums + other)])
    cosines = points @ points.T
    within = (cosines[:6, :6].sum() + cosines[6:, 6:].sum() - 12) / 60
    assert within > cosines[:6, 6:].mean() + 0.2


def test_a_zero_label_scorer_has_none() -> None:
    [score] = embedded(Scorer.for_base("tiny", device="cpu"), make_traces(1, seed=0))
    assert score.embedding is None
    assert score.mean[0] is not None


def test_the_projection_is_fixed_and_keeps_distances() -> None:
    signs = random_signs(400)
    assert signs[0, :8].tolist() == [1, -1, -1, 1, 1, -1, -1, 1]
    assert abs(signs.mean()) < 0.03
    rows = torch.randn(40, 400, generator=torch.Generator().manual_seed(0))
    ratio = torch.pdist(rows @ signs / EMBEDDING_WIDTH**0.5) / torch.pdist(rows)
    assert ratio.mean() == pytest.approx(1, abs=0.05)
    assert ratio.std() < 0.2
