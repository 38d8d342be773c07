"""Monte Carlo estimates of unread solutions: what they teach, and what they must leave alone."""

import math
from pathlib import Path

import msgspec
import pytest
import torch
from torch.nn.functional import logsigmoid

from prm.answers.noise import PRIOR_OF_ESTIMATES, AnswerNoise, NoiseRates, fit_estimate_noise
from prm.config import TrainConfig
from prm.heads import Readout
from prm.labels import BAD, GOOD
from prm.manifest import read_manifest
from prm.traces import LabelSource, Step, StepLabel, Trace, write_traces
from prm.training.dataset import as_documents, documents, read_training_data, unread_documents
from prm.training.objective import Objective, claims_loss
from prm.training.run import train
from prm.training.supervision import Supervision
from tests.unit.prm.small_world import make_traces
from tests.unit.prm.training.teaching import teach
from tests.unit.prm.training.test_objective import fitting

ESTIMATED = TrainConfig(heads=3, hidden=4, dropout=0.0, anchor=0.0, graded_weight=0.0, estimate_weight=0.5)
SURE = NoiseRates(AnswerNoise(0.01, 0.01))


def estimated(trace: Trace, shares: list[float | None], right: bool | None = None, **changes) -> Trace:
    """The trace as a file of Monte Carlo estimates has it: a share of right rollouts behind each step."""
    labels = [None if share is None else StepLabel(share, 0, 1 - share) for share in shares]
    sources = [LabelSource("monte_carlo", "policy, 8 rollouts")]
    fields = {"labels": labels, "first_error": None, "sources": sources, "final_answer_correct": right}
    return msgspec.structs.replace(trace, **(fields | changes))


def true_shares(trace: Trace) -> list[float | None]:
    error = trace.first_error if trace.first_error is not None and trace.first_error >= 0 else len(trace.steps)
    return [float(k < error) for k in range(len(trace.steps))]


def test_an_estimate_is_the_likelihood_of_the_product_up_to_its_step() -> None:
    trace = estimated(Trace("t", "p", [Step("x")] * 4), [1.0, None, 0.25, 0.0])
    misled = NoiseRates(AnswerNoise(0.2, 0.1))
    known = Supervision.of(unread_documents([trace], NoiseRates(), 0, misled), fitting([trace]), "positive")
    claims = known.unread.estimates
    assert (claims.row.tolist(), claims.solution.tolist()) == ([0, 2, 3], [0, 0, 0])
    reached, failed = 0.9 / (0.9 + 0.2), 0.1 / (0.1 + 0.8)
    quarter = (0.25 * 0.9 + 0.75 * 0.1) / (0.25 * 0.9 + 0.75 * 0.1 + 0.25 * 0.2 + 0.75 * 0.8)
    assert claims.evidence.tolist() == pytest.approx([reached, quarter, failed])
    assert len(known.unread.grades.row) == 0
    nothing = Supervision.of(as_documents([]), [], "positive")
    source = Objective(Readout(ESTIMATED, 3), known, nothing, ESTIMATED).sources[1]
    z = torch.tensor([[2.0, -0.5, 1.0, 0.3]]).expand(3, 4)
    product = logsigmoid(z[0]).cumsum(0).exp().tolist()
    expected = [
        -math.log(t * product[k] + (1 - t) * (1 - product[k]))
        for k, t in zip((0, 2, 3), claims.evidence.tolist(), strict=True)
    ]
    assert float(source.loss(z, torch.arange(4))) == pytest.approx(sum(expected) / 3, rel=1e-5)


def test_the_last_step_of_a_graded_solution_speaks_once() -> None:
    trace = estimated(Trace("t", "p", [Step("x")] * 3), [1.0, 1.0, 0.0], right=False)
    [document] = unread_documents([trace], NoiseRates(), 0)
    assert len(document.estimates) == 2
    assert document.grade is not None
    assert document.grade < 0.5, "the answer is wrong"
    assert document.right is False
    assert document.trace.labels is None
    [ungraded] = unread_documents([msgspec.structs.replace(trace, final_answer_correct=None)], NoiseRates(), 0)
    assert (len(ungraded.estimates), ungraded.grade, ungraded.right) == (3, None, False)


def test_only_estimates_of_unread_solutions_of_the_pool_teach(tmp_path: Path) -> None:
    read = make_traces(30, seed=1)
    held = make_traces(60, seed=2, split="calibration", prefix="c")
    new = make_traces(4, seed=3, prefix="n")
    teaches = estimated(new[0], true_shares(new[0]))
    checked = estimated(read[0], true_shares(read[0]), id="again")
    left = [
        estimated(new[1], true_shares(new[1]), split="calibration"),
        estimated(held[0], true_shares(held[0]), split="pool"),
        estimated(new[2], true_shares(new[2]), problem_id=held[0].problem_id),
        estimated(new[3], true_shares(new[3]), source_group=held[1].problem_id),
    ]
    write_traces(tmp_path / "data.jsonl", [*read, *held, teaches, checked, *left])
    data = read_training_data(tmp_path / "data.jsonl", ESTIMATED)
    assert data.unread == [teaches]
    assert data.estimated == [(read[0], checked)]
    assert (len(data.fit), len(data.held)) == (30, 60), "an estimate is not a step label"
    graded = estimated(new[0], true_shares(new[0]), right=False)
    both = msgspec.structs.replace(ESTIMATED, graded_weight=1.0)
    bare = msgspec.structs.replace(graded, labels=None, sources=[])
    write_traces(tmp_path / "data.jsonl", [*read, *held, bare, graded])
    assert read_training_data(tmp_path / "data.jsonl", both).unread == [graded], "listed once, with both"


def test_without_a_weight_estimates_are_step_labels_as_before(tmp_path: Path) -> None:
    read, new = make_traces(30, seed=1), make_traces(2, seed=3, prefix="n")
    write_traces(tmp_path / "data.jsonl", [*read, *(estimated(one, true_shares(one)) for one in new)])
    data = read_training_data(tmp_path / "data.jsonl", msgspec.structs.replace(ESTIMATED, estimate_weight=0.0))
    assert (data.unread, data.estimated) == ([], [])
    assert len(data.fit) + len(data.held) == 32


def test_estimates_beside_a_persons_labels_are_not_estimates_alone(tmp_path: Path) -> None:
    trace = make_traces(1, seed=1)[0]
    mixed = estimated(trace, true_shares(trace))
    mixed.sources.append(LabelSource("human", "ann"))
    write_traces(tmp_path / "data.jsonl", [*make_traces(30, seed=2, prefix="r"), mixed])
    assert read_training_data(tmp_path / "data.jsonl", ESTIMATED).unread == []


def pairs(reachable: bool, flawed: bool, n: int, domain: str = "d") -> list[tuple[Trace, Trace]]:
    trace = Trace("t", "p", [Step("a"), Step("b")], domain=domain, first_error=0 if flawed else 1)
    return [(trace, estimated(trace, [float(reachable), None])) for _ in range(n)]


def test_noise_of_estimates_is_fitted_from_solutions_with_both() -> None:
    assert fit_estimate_noise([]).overall == PRIOR_OF_ESTIMATES
    rates = fit_estimate_noise(
        [*pairs(True, True, 100), *pairs(True, False, 300), *pairs(False, False, 60), *pairs(False, True, 540)]
    )
    assert (rates.right, rates.wrong) == (360, 640)
    assert rates.overall.right_despite_error == pytest.approx(100 / 640, abs=0.005)
    assert rates.overall.wrong_without_error == pytest.approx(60 / 360, abs=0.005)
    two = fit_estimate_noise([*pairs(True, True, 50), *pairs(True, False, 50), *pairs(True, False, 100, "e")])
    assert two.of("d", "").right_despite_error > 0.9
    assert two.of("e", "").wrong_without_error < two.overall.wrong_without_error < 0.1


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_rates_of_simulated_rollouts_are_recovered(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    made = []
    for trace in make_traces(400, seed=seed):
        sound = true_shares(trace)
        draws = torch.rand(len(sound), 8, generator=generator)
        shares = [float((row < (0.8 if one else 0.1)).float().mean()) for row, one in zip(draws, sound, strict=True)]
        made.append((trace, estimated(trace, [float(share > 0) for share in shares])))
    rates = fit_estimate_noise(made)
    assert rates.overall.right_despite_error == pytest.approx(1 - 0.9**8, abs=0.05)
    assert rates.overall.wrong_without_error < 0.02


def test_noisy_estimates_do_not_pull_the_chance_to_their_own_share() -> None:
    """Nine of ten prefixes have no error, and half of those with one are recovered: the fit is 0.9, not 0.95."""
    rates = AnswerNoise(0.5, 0.1)
    chances = torch.tensor([rates.evidence_of_estimate(True), rates.evidence_of_estimate(False)])
    observed = torch.tensor([0.9 * 0.9 + 0.1 * 0.5, 0.9 * 0.1 + 0.1 * 0.5])
    logit = torch.tensor(0.0, requires_grad=True)
    optimiser = torch.optim.Adam([logit], 0.05)
    for _ in range(500):
        optimiser.zero_grad()
        log_p = logsigmoid(logit).expand(1, 2)
        claims_loss(log_p, torch.arange(2), chances, observed[None]).backward()
        optimiser.step()
    assert float(logit.detach().sigmoid()) == pytest.approx(0.9, abs=0.005)


def learned(shares_of, steps: int = 200) -> tuple[torch.Tensor, torch.Tensor]:
    """p(good) of each row after learning from estimates, and whether the row is bad.

    Only the first component of a row says that a step is bad. One labelled solution names another one. Every answer
    is wrong or right by chance, so that only estimates can teach.
    """
    config = msgspec.structs.replace(ESTIMATED, estimate_weight=5.0)
    torch.manual_seed(0)
    traces = [Trace(f"t{k}", f"p{k}", [Step("x")] * 6) for k in range(80)]
    bad = torch.zeros(80, 6, dtype=torch.bool)
    bad[torch.arange(80), torch.randint(0, 6, (80,))] = True
    rows = torch.randn(480, 3)
    rows[:, 0] = torch.where(bad.reshape(-1), 3.0, -1.0) + 0.3 * rows[:, 0]
    known = documents([Trace("read", "q", [Step("x")] * 2, labels=[GOOD, BAD])], config)
    unread = [estimated(one, shares_of(bad[k]), right=k % 2 == 0) for k, one in enumerate(traces)]
    known += unread_documents(unread, NoiseRates(), 1, SURE)
    rows = torch.cat([torch.tensor([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]), rows])
    return teach(known, rows, config, steps)[2:], bad.reshape(-1)


def test_estimates_alone_find_the_bad_step() -> None:
    p, bad = learned(lambda bad: [float(not one) for one in bad.cumsum(0)])
    assert p[bad].mean() < 0.2
    assert p[~bad].mean() > 0.9


def test_a_training_names_how_many_estimates_taught_and_their_noise(tmp_path: Path) -> None:
    read, new = make_traces(40, seed=1), make_traces(20, seed=3, prefix="n")
    lines = [*read, *(estimated(one, true_shares(one)) for one in [*new, *read[:10]])]
    write_traces(tmp_path / "data.jsonl", lines)
    config = TrainConfig(heads=2, hidden=4, epochs=2, estimate_weight=1.0, trackers=())
    train(data=tmp_path / "data.jsonl", out=tmp_path / "model", config=config)
    manifest = read_manifest(tmp_path / "model")
    assert manifest.graded is None
    assert manifest.estimated is not None
    assert manifest.estimated.solutions == 20
    assert manifest.estimated.steps == sum(len(trace.steps) for trace in new)
    assert manifest.estimated.noise.right > manifest.estimated.noise.wrong > 0
    assert manifest.counts.provenance.machines == {}, "the step labels are people's"
    card = (tmp_path / "model" / "CARD.md").read_text()
    assert "Monte Carlo estimates: 20 unread solutions" in card
