"""What the report of a fit says: shares, changes, quality on known steps, groups."""

import pytest

from annotation.labels.consensus.fit_report import report_fit
from prm.consensus import Evidence, Posterior, Reliability, Vote


class Believer:
    """Believes one person."""

    def __init__(self, person):
        self.person = person
        self.parameters = {}
        self.temperature, self.groups = 2.0, [["ann", "bob"]]

    def posteriors(self, votes):
        said = {vote.step: vote.rating for vote in votes if vote.person == self.person}
        bad = {step: 0.9 if said.get(step) == -1 else 0.1 for step in {vote.step for vote in votes}}
        return {step: Posterior(1 - bad[step], 0.0, bad[step]) for step in bad}

    def reliability(self, person):
        return Reliability(0.5, 0.0, 1.0, 4) if person == self.person else None


def votes(solution, domain="algebra", **ratings):
    return [
        Vote(solution, position, person, rating, domain=domain)
        for person, given in ratings.items()
        for position, rating in enumerate(given)
    ]


EVIDENCE = Evidence(
    votes=[
        *votes(7, ann=[1, -1], bob=[1, 1]),
        *votes(8, ann=[1, 1], bob=[1, 1], domain="logic"),
        *votes(9, ann=[-1, 1]),
    ],
)


def test_it_counts_what_was_read_and_the_shares_of_each_domain():
    report = report_fit(lambda evidence, start=None: Believer("ann"), EVIDENCE, Believer("ann"), None)
    assert (report.labels, report.solutions, report.steps, report.temperature) == (5, 3, 6, 2.0)
    assert report.shares == {
        "": pytest.approx((1 - 2.2 / 6, 0, 2.2 / 6), abs=1e-6),
        "algebra": pytest.approx((0.5, 0, 0.5), abs=1e-6),
        "logic": pytest.approx((0.9, 0, 0.1), abs=1e-6),
    }
    assert [one.name for one in report.annotators] == ["ann"]
    assert report.groups == [["ann", "bob"]]
    assert (report.gold, report.changed, report.changes) == (None, 0, [])


def test_it_lists_the_steps_of_several_people_that_changed_and_that_nobody_decided():
    report = report_fit(lambda evidence, start=None: None, EVIDENCE, Believer("ann"), Believer("bob"))
    [change] = report.changes
    assert (change.solution, change.position, change.flipped) == (7, 1, True)
    assert (change.before, change.after) == pytest.approx((0.1, 0.9))
    assert report.changed == 1
    decided = Evidence(EVIDENCE.votes, {(7, 1, 0): -1})
    assert report_fit(lambda evidence, start=None: None, decided, Believer("ann"), Believer("bob")).changes == []


def test_known_steps_are_inferred_by_fits_that_do_not_know_them():
    settled = {(7, 0, 0): 1, (7, 1, 0): -1, (8, 0, 0): 1, (9, 0, 0): 1}
    seen = []

    def estimate(evidence, start=None):
        seen.append({solution for solution, _, _ in evidence.settled})
        return Believer("ann")

    gold = report_fit(estimate, Evidence(EVIDENCE.votes, settled), Believer("ann"), None).gold
    assert seen == [{8}, {7, 9}]
    assert (gold.steps, gold.solutions) == (4, 3)
    assert gold.accuracy.value == pytest.approx(3 / 4)
    assert gold.majority.value == pytest.approx(2 / 4)
    assert gold.accuracy.low <= 3 / 4 <= gold.accuracy.high


def test_gold_measures_a_fit_before_what_reviewers_decided_because_these_steps_are_hard():
    settled = {(7, 1, 0): 1, (8, 0, 0): 1, (8, 1, 0): 1}
    evidence = Evidence(EVIDENCE.votes, settled, gold=[(8, 0, 0), (8, 1, 0)])
    seen = []

    def estimate(evidence, start=None):
        seen.append((evidence.settled, evidence.gold))
        return Believer("ann")

    gold = report_fit(estimate, evidence, Believer("ann"), None).gold
    assert seen == [({(7, 1, 0): 1}, [])]
    assert (gold.steps, gold.accuracy.value) == (2, 1.0)
