"""What every search promises, whatever the policy and the verifier."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import PolicyError
from prm.scores import AGGREGATES, aggregate
from prm.search import LocalVerifier, beam_search, best_of_n, revise
from prm.search.choosing import Candidate, choose, score_samples, stated_answer
from prm.search.endpoint import Prefix, Sampled
from prm.threshold import Threshold
from prm.traces import Step, Trace
from tests.unit.prm.search.a_tree import HashVerifier, TreePolicy

SEEDS = st.integers(0, 10_000)
RULES = st.sampled_from(AGGREGATES)


@given(n=st.integers(1, 12), by=RULES, seed=SEEDS)
def test_best_of_n_takes_the_highest_score_of_the_solutions_it_sampled(n, by, seed):
    policy, verifier = TreePolicy(), HashVerifier()
    found = best_of_n(policy, verifier, "p", n=n, by=by, vote=False, seed=seed)
    candidates, _ = score_samples(verifier, "p", (), policy.sample([Prefix("p")], n=n, seed=seed).samples[0])
    assert found.score == max(candidate.score(by) for candidate in candidates)
    assert found.candidates == n
    voted = best_of_n(policy, verifier, "p", n=n, by=by, seed=seed)
    chosen = choose(candidates, by=by, vote=True, answer_of=stated_answer)
    assert (voted.steps, voted.score) == ([*chosen.steps], chosen.score(by)), "they vote, unless told not to"


@given(width=st.integers(1, 4), expansions=st.integers(1, 4), by=RULES, seed=SEEDS)
def test_a_beam_search_keeps_its_width_and_reports_the_verifiers_own_score(width, expansions, by, seed):
    policy, verifier = TreePolicy(), HashVerifier()
    found = beam_search(policy, verifier, "p", width=width, expansions=expansions, most_steps=12, by=by, seed=seed)
    assert max(policy.asked) <= width
    assert found.rounds <= 12
    assert found.score == pytest.approx(aggregate(found.step_scores, by))
    [again] = verifier.score([Trace("", "p", found.steps)])
    assert found.step_scores == again.mean


@given(width=st.integers(1, 4), expansions=st.integers(1, 4), by=st.sampled_from(["product", "min"]), seed=SEEDS)
def test_no_finished_solution_that_the_search_has_seen_scores_more_than_the_one_it_gives(width, expansions, by, seed):
    """Where the score can only fall, what was dropped as beaten could not have won."""
    verifier = HashVerifier()
    found = beam_search(TreePolicy(), verifier, "p", width=width, expansions=expansions, by=by, seed=seed)
    finished = [texts for texts in verifier.seen if texts[-1].startswith("The answer is")]
    best = max(aggregate([verifier.seen[texts[: k + 1]] for k in range(len(texts))], by) for texts in finished)
    assert found.complete
    assert found.score == pytest.approx(best)


@given(expansions=st.integers(1, 6), seed=SEEDS)
def test_equal_steps_are_read_once(expansions, seed):
    found = beam_search(TreePolicy(words=1), HashVerifier(), "p", width=1, expansions=expansions, seed=seed)
    assert found.cost.steps_verified <= found.rounds * 4 + 30  # one word or one of three answers, and the way out


@given(budget=st.integers(1, 200), width=st.integers(1, 4), seed=SEEDS)
def test_a_token_budget_is_never_exceeded(budget, width, seed):
    policy, verifier = TreePolicy(ends=0.1), HashVerifier()
    found = beam_search(policy, verifier, "p", width=width, expansions=2, token_budget=budget, seed=seed)
    assert found.cost.tokens <= budget
    assert found.steps or budget < 20 * width


@given(rounds=st.integers(1, 4), tries=st.integers(1, 4), by=RULES, seed=SEEDS)
def test_a_revision_never_scores_less_and_stops_at_its_rounds(rounds, tries, by, seed):
    policy, verifier = TreePolicy(), HashVerifier()
    [[first], _] = score_samples(verifier, "p", (), policy.sample([Prefix("p")], seed=seed * 1009).samples[0])
    policy.asked.clear()
    found = revise(policy, verifier, "p", rounds=rounds, tries=tries, by=by, seed=seed)
    assert found.score >= first.score(by)
    assert len(policy.asked) == 1 + found.rounds <= 1 + rounds
    assert found.candidates == 1 + found.rounds * tries


def test_a_solution_without_a_suspicious_step_is_not_revised():
    policy, verifier = TreePolicy(), HashVerifier()
    found = revise(policy, verifier, "p", threshold=Threshold(0.0))
    assert (found.rounds, policy.asked) == (0, [1])


def test_a_vote_sums_the_cubes_of_scores_over_equal_answers():
    """Two that say 1/2 in their own ways (0.343 + 0.216) beat the one that says 3 (0.512); scores of 0.4 do not."""
    candidates = [
        Candidate((Step("The answer is 3."),), (0.8,)),
        Candidate((Step("The answer is 1/2."),), (0.7,)),
        Candidate((Step("The answer is 0.5"),), (0.6,)),
    ]
    best = {vote: choose(candidates, by="product", vote=vote, answer_of=stated_answer) for vote in (True, False)}
    assert best[True] is candidates[1]
    assert best[False] is candidates[0]
    doubted = [candidates[0], *(replace(one, means=(0.4,)) for one in candidates[1:])]
    assert choose(doubted, by="product", vote=True, answer_of=stated_answer) is candidates[0]


def test_what_was_cut_or_not_scored_is_taken_only_where_there_is_nothing_else():
    cut = Candidate((Step("a"),), (0.9,), complete=False)
    unscored = Candidate((Step("b"), Step("c")), (0.9, None))
    poor = Candidate((Step("d"),), (0.1,))
    assert choose([cut, unscored, poor], by="product", vote=False, answer_of=stated_answer) is poor
    assert choose([cut], by="product", vote=False, answer_of=stated_answer) is cut
    assert math.isinf(unscored.score("product"))


def test_a_policy_that_writes_nothing_gives_a_solution_without_steps():
    class Silent(TreePolicy):
        def _one(self, rng, prefix, one_step):
            return Sampled("", ended=True)

    for search in (best_of_n, beam_search, revise):
        found = search(Silent(), HashVerifier(), "p")
        assert (found.steps, found.answer, found.score) == ([], None, None)


def test_a_local_models_sessions_score_a_beam_as_the_whole_solution_is_scored(policy, problems, zero_label):
    found = beam_search(policy, zero_label, problems[0].problem, width=2, expansions=2)
    [again] = zero_label.score([Trace("", problems[0].problem, found.steps)])
    assert found.step_scores == pytest.approx(again.mean, abs=1e-4)
    assert found.complete


def test_a_dead_policy_ends_a_search_with_its_error(zero_label):
    from prm.search import Endpoint

    with pytest.raises(PolicyError):
        beam_search(Endpoint("http://127.0.0.1:9/v1", "any", retries=0), zero_label, "Compute 3 + 4.")


@pytest.fixture(scope="module")
def zero_label():
    from prm.scoring import Scorer

    return LocalVerifier(Scorer.for_base("tiny", device="cpu"))
