"""Unread solutions with a graded answer: what they teach, and what they must leave alone."""

import math
from pathlib import Path

import msgspec
import pytest
import torch
from torch.nn.functional import logsigmoid

from prm.answers.noise import AnswerNoise, NoiseRates
from prm.config import TrainConfig
from prm.encoding import Encoded
from prm.heads import Readout
from prm.labels import BAD, GOOD
from prm.traces import Step, Trace, write_traces
from prm.training.dataset import documents, only_usable, read_training_data, unread_documents
from prm.training.mixing import mix_in
from prm.training.objective import Objective, claims_loss
from prm.training.supervision import Supervision
from tests.unit.prm.small_world import make_traces
from tests.unit.prm.training.teaching import teach
from tests.unit.prm.training.test_objective import fitting

GRADED = TrainConfig(heads=3, hidden=4, dropout=0.0, anchor=0.0, graded_weight=0.5)
CERTAIN = NoiseRates(AnswerNoise(0.001, 0.001))


def unread(trace: Trace, *, right: bool, **changes) -> Trace:
    return msgspec.structs.replace(trace, labels=None, first_error=None, final_answer_correct=right, **changes)


def loss_of(logits: list[float], evidence: float, shift: float = 0.0) -> tuple[float, torch.Tensor]:
    z = torch.tensor([logits], requires_grad=True)
    solution = torch.zeros(len(logits), dtype=torch.long)
    loss = claims_loss(logsigmoid(z), solution, torch.tensor([evidence]), torch.ones(1, 1), shift)
    loss.backward()
    assert z.grad is not None
    return float(loss.detach()), z.grad[0]


def test_the_loss_is_the_likelihood_of_the_product_by_hand() -> None:
    p = [1 / (1 + math.exp(-z)) for z in (2.0, -0.5, 1.0)]
    product = math.prod(p)
    likelihood = 0.7 * product + 0.3 * (1 - product)
    loss, gradient = loss_of([2.0, -0.5, 1.0], 0.7)
    assert loss == pytest.approx(-math.log(likelihood), rel=1e-5)
    by_hand = [-(0.7 - 0.3) * product * (1 - one) / likelihood for one in p]
    assert gradient.tolist() == pytest.approx(by_hand, rel=1e-4)


def test_at_the_limits_it_is_the_log_of_the_product_or_of_the_rest() -> None:
    logits = [2.0, 3.0]
    product = math.prod(1 / (1 + math.exp(-z)) for z in logits)
    assert loss_of(logits, 1.0)[0] == pytest.approx(-math.log(product), rel=1e-5)
    assert loss_of(logits, 0.0)[0] == pytest.approx(-math.log(1 - product), rel=1e-5)


@pytest.mark.parametrize("logit", [-40.0, -1.0, 0.0, 5.0, 40.0, 100.0])
@pytest.mark.parametrize("evidence", [0.0, 0.02, 0.9, 1.0])
def test_two_hundred_steps_of_any_certainty_have_a_finite_loss_and_gradient(logit: float, evidence: float) -> None:
    loss, gradient = loss_of([logit] * 200, evidence)
    assert math.isfinite(loss)
    assert gradient.isfinite().all()
    if evidence == 1 and logit < 5:
        assert (gradient < 0).all(), "every step of a flawless solution is pulled towards good"
    if evidence == 0 and logit == 5:
        assert (gradient > 0).all()


def test_the_shift_undoes_that_sides_are_drawn_alike() -> None:
    """With one flawed solution in ten, drawn as one in two, the true product has no gradient on average."""
    share = torch.tensor(0.9)
    shift = float(torch.tensor(0.5).logit() - share.logit())
    right, wrong = (loss_of([float(share.logit())], t, shift)[1] for t in (1.0, 0.0))
    assert float(right + wrong) == pytest.approx(0, abs=1e-6)


def test_solutions_weigh_by_the_draws_of_a_head() -> None:
    log_p = logsigmoid(torch.tensor([[1.0, 2.0, -1.0]]))
    solution, evidence = torch.tensor([1, 0, 1]), torch.tensor([0.9, 0.1])
    alone = claims_loss(log_p[:, [0, 2]], torch.tensor([0, 0]), evidence[1:], torch.ones(1, 1))
    assert claims_loss(log_p, solution, evidence, torch.tensor([[0.0, 3.0]])) == pytest.approx(float(alone))


def test_false_grades_do_not_pull_the_chance_to_their_own_share() -> None:
    """Three in ten of either grade are false, and still the chances go to 1 and 0."""
    noise = AnswerNoise(0.3, 0.3)
    evidence = torch.tensor([noise.evidence_of_grade(right, 0.5) for right in (True, False)])
    sound, flawed = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    optimiser = torch.optim.Adam([sound, flawed], 0.05)
    for _ in range(1000):
        optimiser.zero_grad()
        log_p = logsigmoid(torch.cat([sound, sound, flawed, flawed]))[None]
        claims_loss(log_p, torch.arange(4), evidence.repeat(2), torch.tensor([[0.7, 0.3, 0.3, 0.7]])).backward()
        optimiser.step()
    assert float(sound.detach().sigmoid()) > 0.97
    assert float(flawed.detach().sigmoid()) < 0.03


def test_a_grade_says_less_where_its_generator_is_seldom_right() -> None:
    """With one right answer in ten, a wrong one is expected: half of the sound solutions have one, too."""
    noise = AnswerNoise(0.1, 0.1)
    for_sound, for_flawed = 0.9 * 0.1 / (0.9 * 0.1 + 0.1 * 0.9), 0.9 * 0.9 / (0.9 * 0.9 + 0.1 * 0.1)
    assert noise.evidence_of_grade(False, 0.1) == pytest.approx(for_sound / (for_sound + for_flawed))
    weak, strong = (
        [unread(one, right=(k % 10 == 0) == seldom, generator=name) for k, one in enumerate(make_traces(500, seed=1))]
        for name, seldom in (("weak", True), ("strong", False))
    )
    made = unread_documents([*weak, *strong], NoiseRates(noise), 0)
    of_wrong = {one.trace.generator: one.grade for one in made if not one.right}
    assert of_wrong["weak"] == pytest.approx(noise.evidence_of_grade(False, 0.1), abs=0.03)
    assert of_wrong["strong"] == pytest.approx(noise.evidence_of_grade(False, 0.9), abs=0.03)


def test_only_unread_graded_solutions_of_the_pool_teach_by_their_grade(tmp_path: Path) -> None:
    read = make_traces(30, seed=1)
    held = make_traces(60, seed=2, split="calibration", prefix="c")
    new = make_traces(4, seed=3, prefix="n")
    graded = unread(new[0], right=True)
    left = [
        unread(new[1], right=False, split="calibration"),
        unread(new[2], right=True, problem_id=held[0].problem_id),
        unread(new[2], right=True, source_group=held[1].problem_id),
        msgspec.structs.replace(new[3], labels=None, first_error=None),
        unread(Trace("empty", "p", []), right=True),
    ]
    write_traces(tmp_path / "data.jsonl", [*read, *held, graded, *left])
    assert read_training_data(tmp_path / "data.jsonl", GRADED).unread == [graded]
    for config in (TrainConfig(graded_weight=0.0), TrainConfig(process_weight=0.0, outcome_weight=1.0)):
        if config.process_weight:
            assert read_training_data(tmp_path / "data.jsonl", config).unread == []


def test_with_an_outcome_part_an_unread_solution_teaches_each_ensemble_once(tmp_path: Path) -> None:
    """The outcome ensemble learns from its final answer, the step heads from its grade, and neither from a step."""
    config = msgspec.structs.replace(GRADED, outcome_weight=1.0)
    read = [msgspec.structs.replace(t, final_answer_correct=t.first_error == -1) for t in make_traces(30, seed=1)]
    held = make_traces(60, seed=2, split="calibration", prefix="c")
    new = [unread(trace, right=k % 2 == 0) for k, trace in enumerate(make_traces(4, seed=3, prefix="n"))]
    write_traces(tmp_path / "data.jsonl", [*read, *held, *new])
    data = read_training_data(tmp_path / "data.jsonl", config)
    taught = [*documents(data.fit, config), *unread_documents(data.unread, NoiseRates(), len(data.fit))]
    known = Supervision.of(taught, fitting([document.trace for document in taught]), config.neutral)
    of_new = torch.tensor([name in {trace.id for trace in new} for name in known.trace_ids])
    assert known.ends[of_new].sum() == len(new)
    assert known.weight[of_new].sum() == 0
    assert len(known.unread.rows) == len(new)


def test_nothing_of_a_set_aside_problem_teaches(tmp_path: Path) -> None:
    read = make_traces(60, seed=1)
    write_traces(tmp_path / "data.jsonl", [*read, *(unread(one, right=True, id=one.id + "+") for one in read)])
    data = read_training_data(tmp_path / "data.jsonl", GRADED)
    assert data.held_from == "validation"
    assert len(data.unread) == len(data.fit)
    assert not {trace.problem_id for trace in data.unread} & {trace.problem_id for trace in data.held}


def test_a_solution_cut_by_the_context_does_not_teach() -> None:
    right, wrong, also_right = make_traces(3, seed=1)
    graded = [unread(right, right=True), unread(wrong, right=False), unread(also_right, right=True)]
    *whole, cut = unread_documents(graded, NoiseRates(), 0)
    *items, item = fitting([document.trace for document in (*whole, cut)])
    short = Encoded(item.ids, item.spans[:-1], item.n_steps)
    assert only_usable([*whole, cut], [*items, short]) == (whole, items)


def test_one_grade_alone_neither_teaches_nor_counts() -> None:
    """The manifest counted 30 wrong answers as teaching, although no batch had any."""
    wrong = unread_documents([unread(t, right=False) for t in make_traces(2, seed=1)], NoiseRates(), 0)
    assert only_usable(wrong, fitting([document.trace for document in wrong])) == ([], [])


def mixed(batches: list[list[int]], sizes: list[int], right: list[bool], length: int = 2) -> list[list[int]]:
    solutions = [[100 + k] for k in range(len(right))]
    return mix_in(
        batches,
        sizes,
        solutions=solutions,
        lengths=[length] * len(right),
        share=1,
        right=right,
        generator=torch.Generator().manual_seed(0),
    )


def test_a_batch_gets_as_many_of_either_grade_up_to_its_share() -> None:
    right = [k < 30 for k in range(40)]
    made = mixed([[0, 1], [2]], [12, 6], right)
    assert made[0][:2] == [0, 1]
    added = [[one - 100 for one in batch if one >= 100] for batch in made]
    assert [len(part) for part in added] == [6, 4]
    assert all(sum(right[k] for k in part) * 2 == len(part) for part in added)
    assert len({k for part in added for k in part}) == 10, "the next batch goes on where this one stopped"


def test_no_solution_is_used_twice_in_an_epoch() -> None:
    """Three wrong answers, repeated in every batch, weighed as much as all labels (F1 .43 instead of .64)."""
    right = [k < 30 for k in range(33)]
    made = mixed([[k] for k in range(5)], [8] * 5, right)
    assert [len(batch) for batch in made] == [5, 3, 1, 1, 1]
    added = [one for batch in made for one in batch[1:]]
    assert len(added) == len(set(added)) == 6
    assert mixed([[0]], [10], [True, True]) == [[0]], "one side alone teaches nothing"


@pytest.mark.parametrize(("labelled", "share"), [(4, 1.0), (7, 1.0), (28, 0.25)])
def test_grades_weigh_less_if_an_epoch_draws_fewer_of_their_steps_than_labelled_ones(
    labelled: int, share: float
) -> None:
    """Six wrong answers among 60 grades weighed as much as 240 labels, and did harm (F1 .405 instead of .463)."""
    read = Trace("read", "p", [Step("x")] * labelled, labels=[GOOD] * labelled)
    sizes = [(2, True), (4, True), (4, False)]  # one pair is drawn, of 3 and 4 steps on average
    graded = [unread(Trace(f"t{n}", f"q{n}", [Step("x")] * n), right=right) for n, right in sizes]
    listed = [*documents([read], GRADED), *unread_documents(graded, CERTAIN, 1)]
    known = Supervision.of(listed, fitting([read, *graded]), "positive")
    source = Objective(Readout(GRADED, 3), known, Supervision.of([], [], "positive"), GRADED).sources[0]
    assert source.weight == pytest.approx(0.5 * share)
    last = [rows[-1] for rows in known.unread.rows]
    assert [row for row in range(len(known.good)) if source.teaches(torch.tensor([row]))] == last


def learned(config: TrainConfig, steps: int = 400) -> tuple[torch.Tensor, torch.Tensor]:
    """p(good) of each row after learning, and whether the row is bad.

    Only the first component of a row says that a step is bad. One labelled solution names another one.
    """
    torch.manual_seed(0)
    traces = [Trace(f"t{k}", f"p{k}", [Step("x")] * 6) for k in range(80)]
    bad = torch.zeros(80, 6, dtype=torch.bool)
    bad[torch.arange(0, 80, 2), torch.randint(0, 6, (40,))] = True
    rows = torch.randn(480, 3)
    rows[:, 0] = torch.where(bad.reshape(-1), 3.0, -1.0) + 0.3 * rows[:, 0]
    unclear = Trace("read", "q", [Step("x")] * 2, labels=[GOOD, BAD])
    known = documents([unclear], config)
    known += unread_documents([unread(t, right=not bad[k].any()) for k, t in enumerate(traces)], CERTAIN, 1)
    rows = torch.cat([torch.tensor([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]]), rows])
    return teach(known, rows, config, steps)[2:], bad.reshape(-1)


def test_grades_alone_find_the_bad_step() -> None:
    p, bad = learned(msgspec.structs.replace(GRADED, graded_weight=5.0))
    assert p[bad].mean() < 0.2
    assert p[~bad].mean() > 0.9
