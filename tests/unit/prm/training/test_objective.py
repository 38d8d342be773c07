"""What a batch's loss is made of: each term by hand, and what each must leave alone."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.heads import Readout, bootstrap_weights
from prm.labels import BAD, GOOD
from prm.traces import Alternative, Step, StepLabel, Trace
from prm.training.dataset import as_documents, documents
from prm.training.lanes import CachedLane
from prm.training.objective import (
    Objective,
    class_log_probabilities,
    class_weights,
    preference_loss,
    soft_cross_entropy,
)
from prm.training.supervision import Supervision

NEUTRAL = StepLabel(0.0, 1.0, 0.0)
WIDTH = 5


def fitting(traces: list[Trace]) -> list[Encoded]:
    """Every step of one token, all within the context."""
    return [
        Encoded(tuple(range(len(t.steps) + 1)), tuple((k, k + 1) for k in range(len(t.steps))), len(t.steps))
        for t in traces
    ]


def supervised(traces: list[Trace], config: TrainConfig) -> Supervision:
    taught = documents(traces, config)
    return Supervision.of(taught, fitting([document.trace for document in taught]), config.neutral)


def objective(traces: list[Trace], held: list[Trace] | None = None, **choices) -> tuple[Objective, torch.Tensor]:
    """An objective of heads that all see everything, and features for its rows."""
    torch.manual_seed(0)
    config = TrainConfig(**{"heads": 3, "hidden": 4, "dropout": 0.0, "anchor": 0.0, "pairwise_weight": 0.0} | choices)
    known = supervised(traces, config)
    held_known = Supervision.of(as_documents(held or []), fitting(held or []), config.neutral)
    made = Objective(Readout(config, WIDTH), known, held_known, config)
    made.draws = torch.ones_like(made.draws)
    return made, torch.randn(len(known.good), WIDTH)


def loss_of(made: Objective, rows: torch.Tensor, index: list[int] | None = None) -> torch.Tensor:
    chosen = torch.tensor(range(len(rows)) if index is None else index)
    return made.loss(rows[chosen], chosen)


STEPS = [Step("a"), Step("b"), Step("c")]
PATH = Trace(
    "path",
    "p",
    STEPS,
    labels=[GOOD, BAD, None],
    alternatives=[Alternative(1, Step("B"), GOOD), Alternative(1, Step("?")), Alternative(0, Step("A"), NEUTRAL)],
)


def test_an_alternative_is_read_after_the_path_before_it_and_teaches_by_its_last_step_only() -> None:
    read = [document.trace for document in documents([PATH], TrainConfig())]
    assert [[step.text for step in trace.steps] for trace in read] == [["a", "b"], ["a", "B"], ["A"]]
    assert [trace.labels for trace in read] == [[GOOD, BAD], [None, GOOD], [NEUTRAL]]
    known = supervised([PATH], TrainConfig())
    assert known.weight.tolist() == [1, 1, 0, 1, 1]
    assert known.pairs.tolist() == [[0, 4], [1, 3]]
    assert known.place.tolist() == [0, 1, 2, 1, 0]


def test_nothing_after_the_first_error_teaches_unless_it_was_rated() -> None:
    stopped = Trace("stopped", "p", STEPS, first_error=0)
    rated_on = Trace("on", "p", STEPS, labels=[BAD, None, GOOD])
    assert supervised([stopped], TrainConfig()).weight.tolist() == [1]
    assert supervised([rated_on], TrainConfig()).weight.tolist() == [1, 0, 1]


def test_weights_and_soft_labels_of_a_consensus_reach_the_loss() -> None:
    trace = Trace("t", "p", STEPS[:2], labels=[StepLabel(0.6, 0.1, 0.3, weight=0.5), StepLabel(0, 0, 1, weight=0.25)])
    made, rows = objective([trace])
    good = torch.sigmoid(made.readout.step_logits(rows)).double()
    first = -(0.7 * good[:, 0].log() + 0.3 * (1 - good[:, 0]).log())
    expected = (0.5 * first - 0.25 * (1 - good[:, 1]).log()).sum() / (3 * 0.75)
    assert loss_of(made, rows).item() == pytest.approx(expected.item(), rel=1e-5)


def test_three_classes_learn_the_posterior_and_need_no_policy() -> None:
    trace = Trace("t", "p", STEPS[:2], labels=[NEUTRAL, StepLabel(0.5, 0.2, 0.3)])
    made, rows = objective([trace], classes=3, neutral="drop")
    log_p = made.readout.heads(rows).log_softmax(2)
    assert log_p.shape == (3, 2, 3)
    expected = -(log_p[:, 0, 1] + (log_p[:, 1] * torch.tensor([0.5, 0.2, 0.3])).sum(1)).sum() / 6
    assert loss_of(made, rows).item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize(("neutral", "as_good"), [("positive", (0, 1)), ("negative", (0,)), ("drop", (0,))])
@given(seed=st.integers(0, 1000))
def test_the_policy_says_how_no_error_is_read_off_three_classes(neutral, as_good, seed) -> None:
    torch.manual_seed(seed)
    readout = Readout(TrainConfig(classes=3, neutral=neutral, heads=2, hidden=4), WIDTH).eval()
    rows = torch.randn(4, WIDTH)
    p = readout.heads(rows).softmax(2)
    good = p[..., as_good].sum(2)
    expected = p[..., 0] / (p[..., 0] + p[..., 2]) if neutral == "drop" else good
    assert torch.allclose(torch.sigmoid(readout.step_logits(rows)), expected, atol=1e-5)


def test_a_preference_by_hand() -> None:
    made, rows = objective([PATH], pairwise_weight=2.0)
    alone, _ = objective([PATH])
    alone.readout.load_state_dict(made.readout.state_dict())
    z = made.readout.step_logits(rows)
    # Neutral counts as good: the pair at position 0 decides nothing. At position 1 row 3 beats row 1.
    expected = torch.nn.functional.softplus(z[:, 1] - z[:, 3]).mean()
    assert (loss_of(made, rows) - loss_of(alone, rows)).item() == pytest.approx(2 * expected.item(), rel=1e-4)


def test_a_pair_counts_where_both_its_rows_are_in_the_batch() -> None:
    made, rows = objective([PATH], pairwise_weight=2.0)
    alone, _ = objective([PATH])
    alone.readout.load_state_dict(made.readout.state_dict())
    for index in ([1], [3], [0, 1, 4], [4, 3]):
        assert loss_of(made, rows, index).item() == pytest.approx(loss_of(alone, rows, index).item())
    for index in ([1, 3], [3, 1, 0]):
        assert loss_of(made, rows, index) > loss_of(alone, rows, index)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-4, 4), st.floats(-4, 4))
def test_swapping_a_pair_swaps_its_preference_and_no_more(p, weight, one, other) -> None:
    a, b = torch.tensor([[one]]), torch.tensor([[other]])
    there = preference_loss(a, b, torch.tensor([p]), torch.tensor([[weight]]))
    back = preference_loss(b, a, torch.tensor([1 - p]), torch.tensor([[weight]]))
    assert there.item() == pytest.approx(back.item(), rel=1e-4, abs=1e-6)


def test_the_final_answer_is_learned_at_the_last_step_of_whole_solutions() -> None:
    right = Trace("right", "p", STEPS, labels=[GOOD, None, None], final_answer_correct=True)
    wrong = Trace("wrong", "p", STEPS[:2], labels=[GOOD, BAD], final_answer_correct=False)
    unknown = Trace("unknown", "p", STEPS[:1], labels=[GOOD])
    made, rows = objective([right, wrong, unknown], outcome_weight=1.0, process_weight=0.0)
    assert made.fit.ends.tolist() == [0, 0, 1, 0, 1, 0]
    z = made.readout.outcome_logits(rows)
    expected = -(torch.nn.functional.logsigmoid(z[:, 2]) + torch.nn.functional.logsigmoid(-z[:, 4])).mean() / 2
    assert loss_of(made, rows).item() == pytest.approx(expected.item(), rel=1e-5)
    cut = Encoded((0, 1), ((0, 1),), 3)
    config = TrainConfig(outcome_weight=1.0)
    assert not Supervision.of(documents([right], config), [cut], config.neutral).ends.any()


def test_anchors_hold_each_head_to_its_own_first_draw() -> None:
    made, rows = objective([PATH], anchor=1.0)
    free, _ = objective([PATH])
    free.readout.load_state_dict(made.readout.state_dict())
    assert loss_of(made, rows).item() == pytest.approx(loss_of(free, rows).item())
    with torch.no_grad():
        for readout in (made.readout, free.readout):
            readout.heads.enter += 0.1
            readout.heads.leave_bias += 1.0
    moved = 0.1**2 * WIDTH * 4 * WIDTH / 2 / 4  # squared, over a prior variance of 1 / width, over 4 labels
    assert (loss_of(made, rows) - loss_of(free, rows)).item() == pytest.approx(moved, rel=1e-3)


@given(st.floats(0.2, 300), st.floats(0.2, 300), st.sampled_from(["inverse", "effective"]), st.floats(1, 50))
def test_class_weights_favour_the_rare_keep_the_total_and_heed_the_cap(good, bad, kind, cap) -> None:
    config = TrainConfig(class_balance=kind, balance_cap=cap)
    weights = class_weights(torch.eye(2), torch.tensor([good, bad]), config)
    rare, common = (0, 1) if good < bad else (1, 0)
    assert weights[rare] >= weights[common] * (1 - 1e-5)
    assert weights[rare] <= cap * weights[common] * (1 + 1e-5)
    assert (weights @ torch.tensor([good, bad])).item() == pytest.approx(good + bad, rel=1e-4)
    if kind == "inverse" and max(good, bad) <= cap * min(good, bad):
        assert (weights[0] * good).item() == pytest.approx((weights[1] * bad).item(), rel=1e-4)


def test_effective_numbers_as_published_and_a_class_without_labels() -> None:
    config = TrainConfig(class_balance="effective", balance_cap=1000)
    a, b = class_weights(torch.eye(2), torch.tensor([1000.0, 10.0]), config).tolist()
    assert b / a == pytest.approx((1 - 0.999**1000) / (1 - 0.999**10), rel=1e-4)
    assert class_weights(torch.eye(3), torch.tensor([9.0, 0.0, 3.0]), config)[1] == 1
    assert class_weights(torch.eye(2), torch.tensor([9.0, 0.0]), config).tolist() == [1, 1]


@pytest.mark.parametrize("classes", [2, 3])
def test_balance_does_not_move_what_a_score_means(classes: int) -> None:
    """The logits that minimise the balanced loss are those of the data's own class shares."""
    shares = torch.tensor([0.9, 0.1] if classes == 2 else [0.7, 0.2, 0.1])
    weights = class_weights(shares[None], torch.ones(1), TrainConfig(class_balance="inverse"))
    assert weights[-1] > 4 * weights[0]
    logits = torch.zeros((1, 1) if classes == 2 else (1, 1, 3), requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=100, tolerance_grad=1e-9)

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        log_p = class_log_probabilities(logits, weights.log())
        loss = soft_cross_entropy(log_p, (shares * weights / (shares * weights).sum())[None], torch.ones(1, 1))
        loss.backward()
        return loss

    optimiser.step(closure)
    found = class_log_probabilities(logits.detach(), torch.zeros(classes)).exp()
    assert torch.allclose(found[0, 0], shares, atol=1e-3)


@given(st.floats(-6, 6), st.floats(0, 1), st.floats(0.05, 1))
def test_generalised_cross_entropy_runs_from_cross_entropy_to_absolute_error(logit, target, q) -> None:
    log_p = class_log_probabilities(torch.tensor([[logit]], dtype=torch.float64), torch.zeros(2))
    targets, once = torch.tensor([[target, 1 - target]], dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    p = 1 / (1 + math.exp(-logit))
    by_hand = target * (1 - p**q) / q + (1 - target) * (1 - (1 - p) ** q) / q
    assert soft_cross_entropy(log_p, targets, once, q).item() == pytest.approx(by_hand, rel=1e-6, abs=1e-9)
    assert by_hand <= 1 / q
    plain, nearly = (soft_cross_entropy(log_p, targets, once, q).item() for q in (0.0, 1e-7))
    assert nearly == pytest.approx(plain, rel=1e-4, abs=1e-6)


def test_label_smoothing_spreads_a_share_over_the_classes() -> None:
    made, _ = objective([PATH], classes=3, label_smoothing=0.3)
    assert made.targets[0].tolist() == pytest.approx([0.8, 0.1, 0.1])


def test_the_held_loss_is_plain_whatever_the_run_minimises() -> None:
    plain, rows = objective([PATH], [PATH])
    robust, _ = objective(
        [PATH], [PATH], class_balance="inverse", label_smoothing=0.2, robustness=0.7, anchor=1.0, pairwise_weight=1.0
    )
    robust.readout.load_state_dict(plain.readout.state_dict())
    with torch.no_grad():
        assert robust.held_losses(rows[:3]) == pytest.approx(plain.held_losses(rows[:3]))
    assert not objective([PATH], [Trace("t", "p", STEPS)])[0].holds


def test_a_loss_that_is_not_finite_comes_from_the_batch_that_holds_its_cause() -> None:
    traces = [Trace(f"t{i}", "p", STEPS[:1], labels=[BAD]) for i in range(4)]
    made, rows = objective(traces)
    rows[2] = float("nan")
    assert torch.isfinite(loss_of(made, rows, [0, 3]))
    assert torch.isnan(loss_of(made, rows, [1, 2]))
    assert made.trace_ids(torch.tensor([2, 1])) == ["t1", "t2"]


def test_rows_of_one_source_group_are_drawn_together() -> None:
    traces = [Trace(f"t{i}", "the same", STEPS[:1], problem_id=f"p{i}", labels=[BAD]) for i in range(4)]
    draws = bootstrap_weights(supervised(traces, TrainConfig()).groups, 8, seed=0)
    assert (draws == 1).all()  # one text is one group, however many ids it came with


def test_a_head_learns_nothing_from_groups_it_did_not_draw() -> None:
    trace = Trace("t", "p", STEPS[:2], labels=[GOOD, BAD], alternatives=PATH.alternatives, final_answer_correct=False)
    made, rows = objective([trace], pairwise_weight=1.0, outcome_weight=1.0)
    made.draws[0] = 0
    loss_of(made, rows).backward()
    for part in (made.readout.heads, made.readout.outcome):
        assert not part.enter.grad[0].any()
        assert part.enter.grad[1:].any()


def test_what_stands_at_one_position_comes_side_by_side_in_every_epoch() -> None:
    config = TrainConfig(batch_steps=1)
    known = supervised([PATH] * 4, config)
    used, place, unread = known.used(config), known.place, known.unread
    lane = CachedLane(torch.zeros(20, 1), torch.zeros(0, 1), used, place, unread, config, torch.device("cpu"))
    orders = [[row for batch in lane.batches(epoch) for row in batch] for epoch in range(20)]
    assert len({tuple(order) for order in orders}) > 10
    for order in orders:
        assert sorted(order) == known.used(config).nonzero().squeeze(1).tolist()
        places = known.place[order].tolist()
        assert all(places[k] == places[k + 1] for k in range(0, len(places), 2))


@pytest.mark.parametrize(("steps", "times"), [(3, 14), (120, 7), (64 * 13, 2), (64 * 14, 1), (64 * 30, 1)])
def test_an_epoch_draws_few_labels_several_times(steps: int, times: int) -> None:
    """With two batches an epoch, training often ended after 18 of them (F1 .12 with 30 labels)."""
    config = TrainConfig()
    known = supervised([Trace("t", "p", [Step("x")] * steps, labels=[GOOD] * steps)], config)
    used, place, unread, rows = known.used(config), known.place, known.unread, torch.zeros(steps, 1)
    batches = CachedLane(rows, rows[:0], used, place, unread, config, torch.device("cpu")).batches(0)
    assert len(batches) == times * -(-steps // 64) >= 14
    assert Counter(row for batch in batches for row in batch) == Counter(list(range(steps)) * times)
    assert all(len(set(batch)) == len(batch) for batch in batches), "a batch has each step once"


def test_logits_are_learned_for_the_shares_of_the_held_part() -> None:
    """With three labels in four bad where one in four is held, the shift is the difference of log odds."""
    targets = torch.tensor([[0.0, 1.0]] * 3 + [[1.0, 0.0]])
    from prm.training.objective import _log_shares

    first = _log_shares(targets, torch.ones(4))
    assert first.exp().tolist() == pytest.approx([2 / 6, 4 / 6])
    assert class_weights(targets, torch.ones(4), TrainConfig(class_balance="held")).tolist() == [1, 1]
