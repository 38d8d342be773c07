"""Closed forms against every subset and every tie, and the figures of published scores."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.cards.tables import best_of_n_table
from prm.errors import DataError
from prm.evaluation.best_of_n import best_of_n, expected_majority, expected_oracle, expected_selected, expected_voted
from prm.formats.benchmark import read_benchmark, read_published
from prm.scores import TraceScore
from prm.search.choosing import Candidate, choose
from prm.traces import Step, Trace
from tests.real_data import real_data

candidates = st.lists(
    st.tuples(st.booleans(), st.integers(0, 3), st.sampled_from(["1", "2", "3", None])), min_size=1, max_size=6
)


def mean(values) -> float:
    values = list(values)
    return float(sum(values) / len(values))


def share(group) -> Fraction:
    group = list(group)
    return Fraction(sum(group), len(group))


def vote(subset) -> Fraction:
    """The share of right candidates among the most frequent answers, ties shared; no answer equals none."""
    keys = [(place,) if answer is None else answer for place, (_, _, answer) in enumerate(subset)]
    counts = Counter(keys)
    winners = [key for key, count in counts.items() if count == max(counts.values())]
    return sum((share(s[0] for s, k in zip(subset, keys, strict=True) if k == w) for w in winners), Fraction()) / len(
        winners
    )


@settings(max_examples=60)
@given(candidates)
def test_expectations_are_means_over_every_subset(pool) -> None:
    right, rank, answers = (list(column) for column in zip(*pool, strict=True))
    sizes = list(range(1, len(pool) + 1))
    # which of a group's candidates speak for it differs from subset to subset, so give a group one verdict
    verdicts = [
        right[answers.index(answer)] if answer is not None else r for answer, r in zip(answers, right, strict=True)
    ]
    found = expected_majority(verdicts, answers, sizes)
    voters = list(zip(verdicts, rank, answers, strict=True))
    for n in sizes:
        subsets = list(combinations(pool, n))
        best = (share(s[0] for s in subset if s[1] == max(t[1] for t in subset)) for subset in subsets)
        assert expected_selected(right, rank, n) == pytest.approx(mean(best))
        assert expected_oracle(right, n) == pytest.approx(mean(any(s[0] for s in subset) for subset in subsets))
        assert found[n - 1] == pytest.approx(mean(vote(subset) for subset in combinations(voters, n)))


@settings(max_examples=40)
@given(candidates)
def test_a_vote_is_the_one_that_a_search_holds(pool) -> None:
    """Of all candidates exactly, of some in the mean over random subsets."""
    right, rank, answers = (list(column) for column in zip(*pool, strict=True))
    scores = [(1 + one) / 8 + place / 1000 for place, one in enumerate(rank)]  # without ties
    said = [Candidate((Step("" if a is None else a),), (p,)) for a, p in zip(answers, scores, strict=True)]

    def chosen(places) -> bool:
        won = choose([said[place] for place in places], by="product", vote=True, answer_of=lambda s: s[0].text or None)
        return right[next(place for place in places if said[place] is won)]

    sizes = list(range(1, len(pool) + 1))
    found = expected_voted(right, scores, answers, sizes)
    for n in sizes:
        exact = mean(chosen(places) for places in combinations(range(len(pool)), n))
        assert found[n - 1] == pytest.approx(exact, abs=1e-9 if n == len(pool) else 0.18)


def pool(*rows: tuple[bool, list[float | None], str], problem: str = "p") -> tuple[list[Trace], list[TraceScore]]:
    traces = [
        Trace(f"{problem}{i}", problem, [Step("s"), Step(text)], final_answer_correct=right)
        for i, (right, _, text) in enumerate(rows)
    ]
    scores = [
        TraceScore(t.id, [None if v is None else [v] for v in p], p, [None, None], None)
        for t, (_, p, _) in zip(traces, rows, strict=True)
    ]
    return traces, scores


def test_each_aggregation_ranks_by_its_own_rule() -> None:
    traces, scores = pool(
        (True, [0.5, 0.9], "answer is 1"),
        (False, [0.6, 0.6], "answer is 2"),
        (False, [0.2, 0.95], "answer is 2.0"),
    )
    result = best_of_n(traces, scores, bootstrap=20)
    last = result.points[-1]
    assert [point.n for point in result.points] == [1, 2, 3]
    assert {name: metric.value for name, metric in last.selected.items()} == {
        "product": 1, "min": 0, "mean": 1, "last": 0, "max": 0, "vote": 1
    }  # fmt: skip
    assert (last.random.value, last.majority.value, last.oracle.value) == (pytest.approx(1 / 3), 0, 1)
    assert result.points[0].selected["min"].value == pytest.approx(1 / 3)


def test_a_candidate_with_an_unscored_step_ranks_last_and_is_counted() -> None:
    traces, scores = pool((True, [0.1, 0.1], "1"), (False, [0.9, None], "2"))
    result = best_of_n(traces, scores, bootstrap=5)
    assert result.n_unscored == 1
    assert {metric.value for metric in result.points[-1].selected.values()} == {1.0}


def test_ties_are_shared_and_said_for_the_first_too() -> None:
    traces, scores = pool((False, [0.9, 0.9], "1"), (True, [0.9, 0.9], "2"))
    result = best_of_n(traces, scores, bootstrap=5)
    assert result.points[-1].selected["min"].value == 0.5
    assert result.points[-1].majority.value == 0.5
    assert result.first_of_ties["min"] == 0
    assert "2, first of ties" in best_of_n_table(result)


def test_problems_weigh_the_same_and_the_interval_is_over_them() -> None:
    easy = pool((True, [0.5, 0.5], "1"), (True, [0.5, 0.5], "1"), problem="easy")
    hard = pool((False, [0.5, 0.5], "1"), (False, [0.5, 0.5], "1"), (False, [0.5, 0.5], "1"), problem="hard")
    result = best_of_n(easy[0] + hard[0], easy[1] + hard[1], bootstrap=200)
    assert [point.n for point in result.points] == [1, 2]
    assert (result.points[0].random.value, result.points[0].random.low, result.points[0].random.high) == (0.5, 0, 1)


def test_what_cannot_be_ranked_is_refused() -> None:
    traces, scores = pool((True, [0.5, 0.5], "1"))
    with pytest.raises(DataError, match="'p0' has no score"):
        best_of_n(traces, [])
    with pytest.raises(DataError, match="does not say whether its final answer is right"):
        best_of_n([Trace("q", "q", [Step("s")])], scores)
    with pytest.raises(DataError, match="no candidates"):
        best_of_n([], [])


# of 60 problems: the expectation over ties, and with ties to the first, by a plain second computation
PUBLISHED = {
    "qwen2.5-math-prm-7b": {"min": (51.0, 51), "product": (51.5, 51), "last": (53.566, 54)},
    "math-shepherd-7b": {"min": (48.167, 49), "product": (50.0, 50), "last": (46.0, 46)},
    "skywork-prm-1.5b": {"min": (46.5, 46), "product": (47.0, 47), "last": (52.0, 52)},
}


@pytest.mark.slow
@pytest.mark.parametrize("model", PUBLISHED)
def test_published_step_scores_give_the_figures_of_a_second_computation(model: str) -> None:
    path = real_data("best-of-n/gsm8k_best_of_32.jsonl.gz")
    traces, scores = read_benchmark([path]).traces, read_published(path)[model]
    result = best_of_n(traces, scores, bootstrap=10)
    by_problem: dict[str, list[tuple[bool, list[float]]]] = {}
    for trace, score in zip(traces, scores, strict=True):
        by_problem.setdefault(trace.problem_id, []).append((trace.final_answer_correct, score.mean))
    rules = {"min": min, "product": product, "last": lambda p: p[-1]}
    for name, rule in rules.items():
        shared = first = 0.0
        for rows in by_problem.values():
            ranks = [rule(p) for _, p in rows]
            winners = [right for (right, _), rank in zip(rows, ranks, strict=True) if rank == max(ranks)]
            shared += sum(winners) / len(winners)
            first += winners[0]
        expected, expected_first = PUBLISHED[model][name]
        assert shared == pytest.approx(expected, abs=1e-3)
        assert first == expected_first
        assert result.points[-1].selected[name].value * 60 == pytest.approx(shared)
        assert result.first_of_ties[name] * 60 == pytest.approx(first)
    assert result.points[-1].n == 32
    assert result.points[-1].random.value == pytest.approx(1573 / 1920)
    assert result.points[-1].oracle.value == pytest.approx(59 / 60)


def product(p: list[float]) -> float:
    result = 1.0
    for one in p:
        result *= one
    return result


@pytest.mark.slow
def test_published_outcome_scores_give_rm_at_8_and_maj_at_8_of_their_own_evaluation() -> None:
    """The rules of QwenLM/Qwen2.5-Math, evaluation/rm_maj_eval.py: first maximum, and first of the most frequent."""
    path = real_data("best-of-n/math_cot_100.jsonl")
    traces, scores = read_benchmark([path]).traces, read_published(path)["pred_score"]
    result = best_of_n(traces, scores, bootstrap=10)
    assert result.points[-1].n == 8
    assert set(result.points[-1].selected) == {"outcome", "vote"}
    assert result.first_of_ties["outcome"] == pytest.approx(0.94)
    assert result.points[-1].selected["outcome"].value == pytest.approx(0.94)
    shared = official = 0.0
    for start in range(0, len(traces), 8):
        rows = traces[start : start + 8]
        counts = Counter(row.meta["final_answer"] for row in rows)
        official += next(
            row.final_answer_correct for row in rows if row.meta["final_answer"] == counts.most_common(1)[0][0]
        )
        best = [answer for answer, count in counts.items() if count == max(counts.values())]
        shared += mean(row.final_answer_correct for row in rows if row.meta["final_answer"] in best)
    assert official == 93
    assert result.points[-1].majority.value * 100 == pytest.approx(shared)
