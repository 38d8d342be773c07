import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.labels.consensus.reliability import estimate
from prm.consensus import CONSENSUS, Evidence, Vote
from prm.vocabulary import RATINGS
from research.consensus import by_shares, measure, posteriors_of, simulate, stop_at_errors


def crowd(rng, *, steps, people):
    """Votes of people on steps of which a fifth is bad; `people` maps a name to what they say of (truth, rng)."""
    truth = rng.choice((1, 0, -1), size=steps, p=(0.7, 0.1, 0.2))
    return truth, [
        Vote(step, 0, name, say(int(true), rng)) for step, true in enumerate(truth) for name, say in people.items()
    ]


def chances(found, **words):
    return found.posteriors([Vote("", 0, person, rating) for person, rating in words.items()])["", 0, 0]


def careful(true, rng):
    return true if rng.random() < 0.93 else int(rng.choice((1, 0, -1)))


KINDS = {
    "flipped": lambda true, rng: -1 if true > -1 else 1,
    "all good": lambda true, rng: 1,
    "by chance": lambda true, rng: int(rng.choice((1, 0, -1))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_tells_nothing_or_misleads_is_found_out(kind):
    people = {"a": careful, "b": careful, "c": careful, "x": KINDS[kind]}
    _, votes = crowd(np.random.default_rng(0), steps=400, people=people)
    found = estimate(Evidence(votes))
    assert all(found.reliability(name).value > 0.8 for name in "abc")
    assert found.reliability("x").value < 0.15


def test_one_bad_word_beside_a_word_by_chance_decides():
    _, votes = crowd(np.random.default_rng(0), steps=200, people={"a": careful, "b": careful, "x": KINDS["by chance"]})
    found = estimate(Evidence(votes))
    assert chances(found, a=-1, x=1).bad > 0.7
    assert chances(found, a=1, x=-1).good > 0.7


def test_steps_that_one_person_rated_alone_teach_nothing():
    votes = [Vote(step, 0, "a", 1) for step in range(50)]
    assert estimate(Evidence(votes)) is None
    settled = estimate(Evidence(votes, {(0, 0, 0): -1, (1, 0, 0): -1}))
    assert settled.reliability("a").labels == 2


def test_an_overlap_without_errors_does_not_wipe_out_the_errors_elsewhere():
    """One bad step of 390 was taken for good at .13, and for bad at .43, because nobody disagreed on the shared 60."""
    shared = [Vote(step, 0, name, 1) for step in range(60) for name in "ab"]
    alone = [Vote(("alone", number), 0, "a", -1 if number < 30 else 1) for number in range(330)]
    found = estimate(Evidence([*shared, *alone]))
    assert chances(found, a=-1).bad > 0.9
    assert chances(found, a=1).good > 0.9
    few = estimate(Evidence([*shared[:20], Vote("alone", 0, "a", -1)]))
    assert chances(few, a=-1).bad > 0.8


def test_words_that_nobody_checked_say_nothing_about_their_giver():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful})
    without = estimate(Evidence(votes)).reliability("a")
    unchecked = [Vote(("alone", number), 0, "a", -1) for number in range(500)]
    found = estimate(Evidence([*votes, *unchecked])).reliability("a")
    assert found.labels == without.labels
    assert found.value == pytest.approx(without.value, abs=0.05)


def test_what_few_words_show_of_a_person_has_a_wide_interval():
    """A constant rater had an informedness of .57 after three steps, without a word on how little is behind it."""
    three = [Vote(step, 0, name, rating) for step, rating in enumerate((1, -1, 1)) for name in "ab"]
    few = estimate(Evidence([*three, *(Vote(step, 0, "x", 1) for step in range(3))])).reliability("x")
    assert few.labels == 3
    assert few.low < 0 < 0.5 < few.high
    _, votes = crowd(np.random.default_rng(0), steps=400, people={"a": careful, "b": careful, "x": KINDS["all good"]})
    many = estimate(Evidence(votes))
    assert many.reliability("x").high < 0.2
    assert 0.75 < many.reliability("a").low < many.reliability("a").high < 1


def test_who_has_seen_no_bad_step_may_find_all_or_none():
    found = estimate(Evidence([Vote(step, 0, name, 1) for step in range(20) for name in "ab"])).reliability("a")
    assert found.labels == 20
    assert found.low < 0.1
    assert found.high > 0.9


def test_a_stranger_is_taken_for_the_average_person():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful, "c": careful})
    found = estimate(Evidence(votes))
    average = np.mean([found.reliability(name).value for name in "abc"])
    assert found.reliability("nobody").value == pytest.approx(average, abs=0.05)
    assert found.reliability("nobody").labels == 0


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.sampled_from((1, 0, -1))), max_size=40))
def test_whatever_was_said_posteriors_are_probabilities(said):
    votes = list({(step, person): Vote(step, 0, person, rating) for step, person, rating in said}.values())
    found = estimate(Evidence(votes))
    if found is not None:
        for words in ({"a": 1}, {"a": -1, "b": 0, "stranger": 1}):
            good, neutral, bad, _ = chances(found, **words)
            assert good + neutral + bad == pytest.approx(1)
            assert min(good, neutral, bad) >= 0
        assert -1 <= found.reliability("a").value <= 1


def test_a_stored_fit_gives_the_same_posteriors():
    _, votes = crowd(np.random.default_rng(0), steps=60, people={"a": careful, "b": careful, "c": careful})
    found = estimate(Evidence(votes))
    again = CONSENSUS.get("reliability").restore(msgspec.json.decode(msgspec.json.encode(found.parameters)))
    for words in ({"a": 1}, {"a": -1, "b": 0, "stranger": 1}):
        assert chances(again, **words) == chances(found, **words)
    assert again.reliability("a") == found.reliability("a")


def test_the_order_of_votes_does_not_matter():
    rng = np.random.default_rng(0)
    truth, votes = simulate(rng, steps=80, skills={"a": 0.9, "b": 0.8, "c": 0.6})
    settled = dict(list(truth.items())[:20])
    found = estimate(Evidence(votes, settled, list(settled)))
    mixed = [votes[n] for n in rng.permutation(len(votes))]
    again = estimate(Evidence(mixed, dict(reversed(settled.items())), sorted(settled, reverse=True)))
    assert again.parameters == found.parameters


@pytest.mark.slow
def test_a_warm_start_ends_where_a_full_fit_does():
    truth, votes = simulate(np.random.default_rng(1), steps=200, skills={"a": 0.9, "b": 0.8, "c": 0.7})
    settled = dict(list(truth.items())[:30])
    earlier = estimate(Evidence([vote for vote in votes if vote.solution < 150], settled, list(settled)))
    evidence = Evidence(votes, settled, list(settled))
    full, warm = estimate(evidence), estimate(evidence, start=earlier.parameters)
    for words in ({"a": 1}, {"a": -1, "b": 0, "c": 1}, {"stranger": -1}):
        assert chances(warm, **words) == pytest.approx(chances(full, **words), abs=0.002)
    assert warm.reliability("c").value == pytest.approx(full.reliability("c").value, abs=0.002)


JUDGES = ("judge 1", "judge 2", "judge 3")


@pytest.mark.parametrize("families", [{}, dict.fromkeys(JUDGES, "family")], ids=["undeclared", "declared"])
def test_copies_of_a_judge_do_not_outvote_an_accurate_person(families):
    """The consensus was right on .743 of the steps, and the person alone on .927; adjudications changed nothing."""
    truth, votes = simulate(np.random.default_rng(2), steps=500, skills={"anna": 0.93}, copies=JUDGES)
    adjudicated = dict(list(truth.items())[:100])
    rest = {step: rating for step, rating in truth.items() if step not in adjudicated}
    evidence = Evidence(votes, adjudicated, (), families)
    found = estimate(evidence)
    anna = np.mean([vote.rating == rest[vote.step] for vote in votes if vote.person == "anna" and vote.step in rest])
    assert measure(posteriors_of(found, evidence), rest).accuracy > anna - 0.02
    assert found.reliability("anna").value > found.reliability("judge 1").value + 0.1


def test_copies_are_found_among_enough_others_without_gold():
    truth, votes = simulate(np.random.default_rng(3), steps=300, skills=dict.fromkeys("abcde", 0.85), copies=JUDGES)
    evidence = Evidence(votes)
    found = estimate(evidence)
    assert found.groups == [list(JUDGES)]
    assert measure(posteriors_of(found, evidence), truth).accuracy > 0.96


def test_spammers_do_not_outvote_people():
    skills = {"a": 0.9, "b": 0.9, "x": 0.0, "y": 0.0, "z": 0.0}  # three rate every step good
    truth, votes = simulate(np.random.default_rng(4), steps=300, skills=skills)
    settled = dict(list(truth.items())[:30])
    evidence = Evidence(votes, settled, list(settled))
    found = estimate(evidence)
    assert all(found.reliability(name).high < 0.3 for name in "xyz")
    bad = {step: rating for step, rating in truth.items() if rating == -1 and step not in settled}
    assert measure(posteriors_of(found, evidence), bad).accuracy > 0.75


@pytest.mark.slow
@pytest.mark.parametrize("gold", [0, 60])
def test_twenty_raters_who_are_misled_together_are_not_believed_beyond_doubt(gold):
    """93 % of the posteriors of 20 raters lay beyond .99, and 12.8 % of these were wrong."""
    skills = {f"rater {n:02}": 0.8 for n in range(20)}
    truth, votes = simulate(np.random.default_rng(5), steps=300, skills=skills, misleading=0.12)
    settled = dict(list(truth.items())[:gold])
    evidence = Evidence(votes, settled, list(settled))
    found = measure(posteriors_of(estimate(evidence), evidence), dict(list(truth.items())[gold:]))
    assert found.extreme * found.wrong < 0.01
    assert found.ece < (0.05 if gold else 0.12)


def test_the_first_error_is_one_place_of_a_solution():
    """People who overlook the error go on, and their later ratings are no evidence about an earlier step."""
    rng = np.random.default_rng(6)
    votes, errors = [], {}
    for solution in range(150):
        errors[solution] = error = int(rng.integers(-1, 6))
        for person, misses, invents in (("a", 0.1, 0.02), ("b", 0.3, 0.02), ("c", 0.1, 0.1)):
            for position in range(6):
                bad = rng.random() > misses if position == error else rng.random() < invents
                votes.append(Vote(solution, position, person, -1 if bad else 1))
                if bad:
                    break
    found = estimate(Evidence(votes))
    b = found.reliability("b")
    assert b.finds.low < 0.7 < b.finds.high < found.reliability("a").finds.value + 0.1
    assert found.reliability("c").invents.value > 2 * b.invents.value
    right = majority = 0
    for solution, error in errors.items():
        mine = [vote for vote in votes if vote.solution == solution]
        posterior = found.posteriors(mine)
        ends = {position: p.reached * p.bad for (_, position, _), p in posterior.items()}
        likeliest = max(ends, key=lambda position: ends[position])
        right += (likeliest if ends[likeliest] > 1 - sum(ends.values()) else -1) == error
        named = [next((v.position for v in mine if v.person == name and v.rating == -1), -1) for name in "abc"]
        majority += max(set(named), key=named.count) == error
        assert posterior[solution, 0, 0].reached == pytest.approx(1)
    assert right >= majority


@pytest.mark.slow
def test_people_who_stop_at_the_first_error_without_gold_are_not_worse_than_a_majority():
    """Two votes for an error beside one against it were outweighed by the prior, although most such steps were bad."""
    won = lost = 0
    for seed in (7, 10):
        truth, votes = stop_at_errors(seed, solutions=800)
        evidence = Evidence(votes)
        ours, shares = (
            {step: RATINGS[int(np.argmax(found[step]))] == true for step, true in truth.items() if step in found}
            for found in (posteriors_of(estimate(evidence), evidence), by_shares(evidence))
        )
        won += sum(right and not shares[step] for step, right in ours.items())
        lost += sum(shares[step] and not right for step, right in ours.items())
    assert lost - won < 2 * (lost + won) ** 0.5


@pytest.mark.slow
def test_confidence_falls_with_the_votes_that_no_gold_has_checked():
    """What a crowd's common errors can hide is unknown before gold, so more people say less than they seem to."""
    truth, votes = stop_at_errors(3, solutions=300)
    gold = dict(list(truth.items())[:200])
    without, with_gold = estimate(Evidence(votes)), estimate(Evidence(votes, gold, list(gold)))
    assert without.suspected > without.among
    assert not with_gold.suspected
    told = msgspec.structs.replace(without, floor=0.0).posteriors(
        [Vote("", k, f"p{n}", 1) for k in range(3) for n in range(3)]
    )
    left = 1.0
    for place in sorted(told):
        assert told[place].reached == pytest.approx(left)
        left *= 1 - told[place].bad


@pytest.mark.parametrize("gold", [0, 60])
def test_the_posteriors_of_many_solutions_are_those_of_each(gold):
    truth, votes = stop_at_errors(3, solutions=40)
    known = dict(list(truth.items())[:gold])
    found = estimate(Evidence(votes, known, list(known)))
    together = found.posteriors(votes)
    solutions = {vote.solution for vote in votes}
    apart = [found.posteriors([vote for vote in votes if vote.solution == one]) for one in solutions]
    assert sum(map(len, apart)) == len(together)
    for of_one in apart:
        for step, posterior in of_one.items():
            assert together[step] == pytest.approx(posterior, abs=1e-9)
    assert found.posteriors([]) == {}
