"""Rewards: each term by hand, the mix as TRL calls it, and what a policy might try to gain by."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import DataError
from prm.rewards import Mix, Prover, Reward
from prm.rewards.terms import discounted, efficiency, guarded, min_form, novelty
from prm.scores import StepScore, TraceScore
from prm.search.endpoint import Answers, Cost, Sampled
from prm.splitting import Splitting
from prm.traces import Step
from tests.unit.prm.search.a_tree import HashVerifier

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
RIGHT = "First 2 + 2 = 4.\n\nThe answer is 4."
WRONG = "First 2 + 2 = 5.\n\nThe answer is 5."


class LikesFours(HashVerifier):
    """A step that speaks of 5 is bad, every other good."""

    def score(self, traces):
        means = [[0.1 if "5" in step.text else 0.9 for step in trace.steps] for trace in traces]
        return [
            TraceScore.of_steps(trace.id, [StepScore([p], p, None) for p in some])
            for trace, some in zip(traces, means, strict=True)
        ]


def rewarded(*completions, mix=Mix(), **columns):  # noqa: B008 - frozen
    reward = Reward(LikesFours(), mix)
    given = {"answer": ["4"] * len(completions)} | columns
    return reward(prompts=["What is 2 + 2?"] * len(completions), completions=list(completions), **given)


@given(SCORES)
def test_the_credits_of_the_min_form_sum_to_about_the_least_score(scores):
    total = sum(min_form(scores, temperature=1e-3))
    assert total == pytest.approx(min(scores), abs=0.01)
    assert min(scores) - 1e-9 <= sum(min_form(scores)) <= max(scores) + 1e-9


def test_the_min_form_is_that_of_the_paper():
    weights = [math.exp(-0.9 / 0.1), math.exp(-0.2 / 0.1)]
    assert min_form([0.9, 0.2]) == pytest.approx([0.9 * weights[0] / sum(weights), 0.2 * weights[1] / sum(weights)])
    assert min_form([]) == []


@given(SCORES, st.floats(0.5, 1))
def test_another_good_step_gains_nothing_worth_having(scores, more):
    """By a sum of scores it would gain the whole of `more`."""
    sharp = sum(min_form(scores, temperature=0.01))
    assert sum(min_form([*scores, more], temperature=0.01)) <= max(sharp, min(*scores, more)) + 0.05


def test_repeated_empty_and_unscored_steps_count_as_wrong():
    steps = [Step("Let x be 4."), Step("let  x be 4."), Step(" "), Step("So 4."), Step("Beyond the context.")]
    assert guarded([0.9, 0.9, 0.9, 0.8, None], steps) == [0.9, 0.0, 0.0, 0.8, 0.0]


def test_efficiency_compares_right_solutions_with_the_shortest_of_them():
    values = efficiency([10, 15, 40, 5, 7], [True, True, True, False, True], ["p", "p", "p", "p", "q"])
    assert values == [0.0, -0.5, -1.0, 0.0, 0.0]


def test_novelty_is_for_right_solutions_unlike_the_other_right_ones():
    texts = ["we add two and two", "we add two and two", "count on your fingers", "sing a song of joy"]
    assert novelty(texts, [True, True, True, False], ["p"] * 4) == [0.0, 0.0, 1.0, 0.0]
    assert novelty(texts[:1], [True], ["p"]) == [0.0]
    assert novelty(["x = 4", "x = 5"], [True, True], ["p"] * 2) == [0.0, 0.0]  # numbers make nothing new


def test_a_right_solution_earns_more_than_a_wrong_one():
    right, wrong = rewarded(RIGHT, WRONG)
    assert right == pytest.approx(1 + 0.5 * 0.9)
    assert wrong == pytest.approx(0.5 * 0.1)


@pytest.mark.parametrize(
    "trick",
    [
        "First 2 + 2 = 4.\n\n" * 20 + "The answer is 5.",
        "Let us think about it.",
        "",
        "\n\n".join(f"Good point number one{'!' * k}" for k in range(20)),
        WRONG + "\n\nGreat. " * 30,
    ],
    ids=["repeats", "no answer", "nothing", "chatter", "padding"],
)
def test_no_trick_earns_what_an_honest_answer_earns(trick):
    [right, gamed] = rewarded(RIGHT, trick)
    assert gamed < right / 2


def test_it_is_called_as_trl_calls_it_with_texts_or_with_messages():
    """Keyword arguments, columns of the data set repeated, token ids, state, and the trainer's own log."""
    logged = {}
    reward = Reward(LikesFours(), Mix(outcome=1, steps=0.5, efficiency=0.1, novelty=0.1))
    plain = reward(
        prompts=["What is 2 + 2?"] * 2,
        completions=[RIGHT, WRONG],
        completion_ids=[[1, 2, 3], [4, 5]],
        answer=["4", "4"],
        domain=["sums", "sums"],
        trainer_state=object(),
        log_extra=lambda column, values: None,
        log_metric=logged.__setitem__,
    )
    messages = reward(
        prompts=[[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 2?"}]] * 2,
        completions=[[{"role": "assistant", "content": text}] for text in (RIGHT, WRONG)],
        answer=["4", "4"],
    )
    assert all(type(value) is float for value in plain)
    assert plain == pytest.approx(messages)
    assert reward.__name__ == "stepmark"
    assert logged["reward/outcome"] == 0.5
    assert sum(share for name, share in logged.items() if name.startswith("reward_share/")) == pytest.approx(1)
    assert [len(part.credits) for part in reward.last] == [2, 2]


def test_what_a_term_needs_is_asked_for_at_once():
    with pytest.raises(DataError, match="needs a verifier"):
        Reward(None, Mix(steps=1))
    with pytest.raises(DataError, match="needs a prover"):
        Reward(LikesFours(), Mix(progress=1))
    with pytest.raises(DataError, match="no column 'answer'"):
        rewarded(RIGHT, answer=None)
    assert rewarded(RIGHT, WRONG, mix=Mix(outcome=0, steps=1), answer=None) == pytest.approx([0.9, 0.1])


@pytest.mark.parametrize("between", ["\n\n", "\n", "\r\n", "\r\n\r\n"])
def test_line_ends_do_not_change_the_reward(between):
    solution = between.join(["2 + 2 = 4.", "Twice 4 is 8.", "Half of 8 is 4.", "The answer is 4."])
    reward = Reward(LikesFours())
    assert reward(prompts=["p"], completions=[solution], answer=["4"]) == pytest.approx([1 + 0.5 * 0.9])
    assert len(reward.last[0].credits) == 4


def test_hidden_reasoning_is_no_step_unless_it_is_kept():
    solution = "<think>\nIs it 5?\n\nNo.\n</think>\n\n" + RIGHT
    kept = Reward(LikesFours(), splitting=Splitting("automatic", "keep"))
    dropped = Reward(LikesFours())
    for reward, steps in ((kept, 4), (dropped, 2)):
        reward(prompts=["p"], completions=[solution], answer=["4"])
        assert len(reward.last[0].credits) == steps
    assert kept.last[0].total < dropped.last[0].total
    assert dropped(prompts=["p"], completions=["<think>It is 4. The answer is 4."], answer=["4"]) == [0.0]


def test_a_completion_of_one_step_is_warned_of_once(caplog):
    reward = Reward(LikesFours(), splitting=Splitting("blank_lines", "drop"))
    for _ in range(2):
        reward(prompts=["p"] * 2, completions=["2 + 2 = 4.\nThe answer is 4.", RIGHT], answer=["4"] * 2)
    [warning] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("Single-step completions: 1 of 2 by the rule 'blank_lines'.")


def test_an_answer_that_cannot_be_told_earns_no_outcome():
    assert rewarded("We go to Rome.", mix=Mix(outcome=1, steps=0), answer=["Athens"]) == [0.0]


class Walker:
    """Comes to the answer from a prefix with a share of its rollouts that the last step's text says."""

    def __init__(self):
        self.asked = 0

    def sample(self, prefixes, *, n=1, stop=(), seed=0):
        self.asked += len(prefixes)
        shares = [float(prefix.steps[-1].text) if prefix.steps else 0.5 for prefix in prefixes]
        samples = [
            [Sampled("The answer is 4." if k < n * share else "The answer is 5.") for k in range(n)] for share in shares
        ]
        return Answers(samples, Cost(calls=len(prefixes)))


def test_progress_is_the_provers_chance_after_less_that_before():
    """q = .5, .25, 1 gives best-of-2 values .75, .4375, 1."""
    prover = Prover(Walker(), lambda text, reference: text == f"The answer is {reference}.", samples=8, best_of=2)
    [found] = prover.advantages(["p"], [[Step("0.25"), Step("1.0")]], ["4"])
    assert found == pytest.approx([0.4375 - 0.75, 1 - 0.4375])
    assert sum(found) == pytest.approx(1 - 0.75)  # it telescopes
    assert discounted(found, 0.5) == pytest.approx(found[0] + found[1] / 2)


def test_a_prefix_is_rolled_out_once():
    walker = Walker()
    prover = Prover(walker, lambda text, reference: True)
    steps = [[Step("0.5"), Step("1.0")], [Step("0.5"), Step("0.0")]]
    prover.advantages(["p", "p"], steps, ["4", "4"])
    prover.advantages(["p"], steps[:1], ["4"])
    assert walker.asked == prover.cost.calls == 4  # the problem, its first step, two second steps


def test_progress_joins_the_mix():
    prover = Prover(Walker(), lambda text, reference: text == f"The answer is {reference}.", best_of=1)
    reward = Reward(None, Mix(outcome=0, steps=0, progress=1), prover, discount=1.0)
    assert reward(prompts=["p"], completions=["0.25\n\n1.0"], answer=["4"]) == pytest.approx([0.5])
    assert reward.last[0].advantages == pytest.approx([-0.25, 0.75])


def test_a_long_run_does_not_remember_every_prefix(monkeypatch):
    monkeypatch.setattr("prm.rewards.terms.REMEMBERED", 5)
    prover = Prover(Walker(), lambda text, reference: True)
    for k in range(10):
        assert len(prover.advantages([f"p{k}"], [[Step("1"), Step("2")]], ["0"])[0]) == 2
    assert len(prover._known) <= 5 + 3
