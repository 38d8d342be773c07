"""Which checks name whom: patterns, copies, and speed beside accuracy."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from math import log

import numpy as np
import pytest

from annotation.labels.annotators.copies import find_copies
from annotation.labels.annotators.guessing import find_guessing, speeds_of
from annotation.labels.annotators.haste import Timed
from annotation.labels.annotators.judged_labels import FirstErrorLabel, long_comments, references_of
from annotation.labels.annotators.patterns import find_patterns
from annotation.labels.annotators.suspicions import Material, find_suspicions

START = datetime(2026, 1, 1, tzinfo=UTC)
THRESHOLD = log(2000)
STEPS = 6


def truths(rng, number):
    return [int(rng.integers(STEPS)) if rng.random() < 0.5 else -1 for _ in range(number)]


def reading(rng, truth, *, right=0.85):
    return truth if rng.random() < right else int(rng.integers(-1, STEPS))


def answers(who, firsts, *, solutions=None, numbers=None):
    """Labels on these solutions, or each on its own."""
    numbers = numbers or count()
    return [
        FirstErrorLabel(n := next(numbers), n if solutions is None else solutions[i], who, False, first,
                        START + timedelta(minutes=n), False)
        for i, first in enumerate(firsts)
    ]  # fmt: skip


def crowd(rng, numbers, *, people=4, number=60):
    """People who read, each on solutions of their own."""
    return [
        label
        for n in range(people)
        for label in answers(f"p{n}", [reading(rng, truth) for truth in truths(rng, number)], numbers=numbers)
    ]


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "firsts"),
        [("none", [-1] * 60), ("same", [2] * 12), ("turns", [-1, 3] * 15)],
    )
    def test_answers_that_follow_a_pattern_are_named(self, pattern, firsts):
        numbers = count()
        labels = [*crowd(np.random.default_rng(0), numbers), *answers("x", firsts, numbers=numbers)]
        patterns = find_patterns(labels, {}, threshold=THRESHOLD)
        assert {who: found for who, (found, _) in patterns.items()} == {"x": pattern}

    def test_a_lenient_person_and_a_run_of_good_solutions_are_not_named(self):
        rng, numbers = np.random.default_rng(1), count()
        lenient = [-1 if rng.random() < 0.4 else reading(rng, truth) for truth in truths(rng, 200)]
        labels = [*crowd(rng, numbers), *answers("lenient", lenient, numbers=numbers)]
        labels += answers("lucky", [3, *[-1] * 12, 2, *[-1] * 10, 0], numbers=numbers)
        assert find_patterns(labels, {}, threshold=THRESHOLD) == {}

    def test_the_order_of_a_file_without_times_is_no_pattern(self):
        """Such a file is often sorted by problem, so that equal answers follow each other."""
        numbers = count()
        labels = crowd(np.random.default_rng(0), numbers)
        labels += [replace(label, at=START) for label in answers("file", [-1] * 60, numbers=numbers)]
        assert find_patterns(labels, {}, threshold=THRESHOLD) == {}

    def test_what_the_reference_confirms_is_no_pattern(self):
        """An easy domain: everybody calls every solution good, and so does the reference."""
        numbers, solutions = count(), range(80)
        labels = [
            label for who in ("a", "b", "x") for label in answers(who, [-1] * 80, solutions=solutions, numbers=numbers)
        ]
        assert find_patterns(labels, references_of(labels), threshold=THRESHOLD) == {}


class TestCopies:
    def shared(self, *, copies, number=40, seed=0):
        """Four people on the same solutions; the last copies the first, or reads too. Three in four are right."""
        rng, numbers = np.random.default_rng(seed), count()
        truth = truths(rng, number)
        firsts = {who: [reading(rng, one, right=0.7) for one in truth] for who in "abcd"}
        if copies:
            firsts["d"] = firsts["a"]
        return [
            label for who in "abcd" for label in answers(who, firsts[who], solutions=range(number), numbers=numbers)
        ]

    def test_who_shares_mistakes_is_named_and_not_the_original(self):
        [copying] = find_copies(self.shared(copies=True), {}, threshold=THRESHOLD)
        assert (copying.who, copying.original, copying.comments) == ("d", "a", 0)
        assert copying.rise.hits > copying.rise.expected

    @pytest.mark.parametrize("seed", range(5))
    def test_people_who_are_right_together_do_not_copy(self, seed):
        assert find_copies(self.shared(copies=False, seed=seed), {}, threshold=THRESHOLD) == []

    def test_a_careless_third_person_makes_nobody_a_copier(self):
        numbers = count()
        firsts = {"a": [1] * 40, "b": [1] * 40, "careless": [2] * 40}
        labels = [x for who in firsts for x in answers(who, firsts[who], solutions=range(40), numbers=numbers)]
        assert find_copies(labels, {}, threshold=THRESHOLD) == []

    def test_equal_comments_are_evidence_and_short_ones_are_not(self):
        numbers = count()
        labels = [x for who in "ab" for x in answers(who, [1] * 3, solutions=range(3), numbers=numbers)]
        same = {label.label: long_comments([f"The  sign in step {label.solution} is LOST here."]) for label in labels}
        [copying] = find_copies(labels, same, threshold=THRESHOLD)
        assert (copying.who, copying.original, copying.comments) == ("b", "a", 3)
        assert long_comments(["sign error", "  ok "]) == frozenset()


class TestSpeed:
    def project(self, *, right, step_ms, number=60):
        """Three people who read, and `x`; the solutions have adjudications."""
        rng, numbers = np.random.default_rng(2), count()
        truth = truths(rng, number)
        labels = answers("reviewer", truth, solutions=range(number), numbers=numbers)
        labels = [FirstErrorLabel(*[getattr(one, f) for f in one.__match_args__[:-1]], True) for one in labels]
        timed = []
        for who, accuracy, ms in (("a", 0.85, 4000), ("b", 0.85, 5000), ("c", 0.85, 6000), ("x", right, step_ms)):
            own = answers(who, [reading(rng, one, right=accuracy) for one in truth], solutions=range(number),
                          numbers=numbers)  # fmt: skip
            labels += own
            timed += [Timed(one.label, who, one.at, 5 * ms, 5, 200) for one in own]
        return labels, timed

    def speed(self, labels, timed):
        return speeds_of(labels, references_of(labels), timed)["x"]

    def test_fast_and_right_is_a_note(self):
        labels, timed = self.project(right=0.95, step_ms=800)
        assert self.speed(labels, timed).note == "fast_right"
        material = Material(labels, timed)
        assert find_suspicions(material, labels_between_false_alarms=2000, cleared_until={}) == []

    def test_fast_and_right_less_often_than_others_is_another_note(self):
        """Half of this person's verdicts are guesses, so they are right more often than guesses alone."""
        labels, timed = self.project(right=0.5, step_ms=800)
        speed = self.speed(labels, timed)
        assert speed.right.low > speed.guess
        assert speed.right.high < speed.others
        assert speed.note == "fast_worse"
        assert [one.who for one in find_suspicions(Material(labels, timed), labels_between_false_alarms=2000,
                                                   cleared_until={})] == ["x"]  # fmt: skip

    def test_fast_and_no_better_than_guessing_is_named(self):
        labels, timed = self.project(right=0.0, step_ms=2000)
        speeds = speeds_of(labels, references_of(labels), timed)
        assert speeds["x"].fast
        assert speeds["x"].right.value <= 0.35
        assert set(find_guessing(labels, references_of(labels), speeds, threshold=THRESHOLD)) == {"x"}
        # at the usual pace, the other checks decide
        slow, slowly = self.project(right=0.0, step_ms=4500)
        assert self.speed(slow, slowly).note == ""

    def test_a_guess_is_right_as_often_as_answers_fit_by_chance(self):
        numbers = count()
        labels = [*answers("a", [-1, -1, 0, 1], solutions=range(4), numbers=numbers)]
        labels += answers("b", [-1, -1, 0, 0], solutions=range(4), numbers=numbers)
        # of 12 ordered pairs of solutions: each "none" of b fits the other one, and b's last 0 fits the third solution
        assert speeds_of(labels, references_of(labels), [])["b"].guess == pytest.approx(3 / 12)


def test_nobody_is_named_twice_at_once():
    """Random answers at two seconds a label are suspected by several checks."""
    rng, numbers = np.random.default_rng(3), count()
    truth = truths(rng, 60)
    firsts = {who: [reading(rng, one) for one in truth] for who in "abc"} | {"x": [-1] * 60}
    labels = [x for who in firsts for x in answers(who, firsts[who], solutions=range(60), numbers=numbers)]
    timed = [Timed(one.label, one.who, one.at, 1000 if one.who == "x" else 20_000, 5, 300) for one in labels]
    found = find_suspicions(Material(labels, timed), labels_between_false_alarms=2000, cleared_until={})
    assert [one.who for one in found] == ["x"]
    assert found[0].check == "reading"
