"""Everybody new is screened first where the project asks for it; who errs too often on gold is paused."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.models import AuditEntry, Lease, Project, QueueItem, ScreeningDecision
from annotation.work.gold.screening import attempt_of, decide, latest_decision, standing
from annotation.work.queue.leases import expire_leases, release
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import answer, claim, make_gold, work

pytestmark = pytest.mark.django_db
SCREENING = {"items": 3, "pass_mark": 2}


@pytest.fixture
def generation():
    generation = GenerationFactory(project__policy={"screening": SCREENING, "gold": {"share": 0}})
    make_gold(generation.project, 8)
    QueueItemFactory.create_batch(6, generation=generation)
    return generation


@pytest.fixture
def project(generation):
    return generation.project


@pytest.fixture
def annotator(project):
    return MembershipFactory(project=project)


@pytest.fixture
def manager(project):
    return MembershipFactory(project=project, role="manager").user


def policy(project, member, **parts):
    project.policy = project.policy | parts
    project.save()
    member.project = project


def decisions(member):
    rows = ScreeningDecision.objects.filter(membership=member).order_by("pk")
    return [(row.outcome, row.right, row.given) for row in rows]


def test_whoever_passes_goes_on_at_once(annotator):
    assert standing(annotator) == "again"
    assert work(annotator, 1, first_error=-1) + work(annotator, 3) == ["screening"] * 3 + ["control"]
    assert decisions(annotator) == [("passed", 2, 3)]
    [entry] = AuditEntry.objects.filter(action="member.screen")
    assert (entry.by, entry.before, entry.after["outcome"]) == (None, {"outcome": None}, "passed")


def test_whoever_fails_is_told_and_gets_nothing_more(annotator):
    assert work(annotator, 9, first_error=-1) == ["screening"] * 3
    refused = claim(annotator)
    assert refused.reason == "screening_failed"
    assert "manager" in refused.message
    assert decisions(annotator) == [("failed", 0, 3)], "asking again decides nothing anew"


def test_a_near_miss_is_right_within_the_tolerance_of_the_policy(project, annotator):
    policy(project, annotator, gold={"share": 0, "tolerance": 1})
    assert work(annotator, 4, first_error=2)[-1] == "control"
    assert decisions(annotator) == [("passed", 3, 3)]


def test_nothing_else_is_handed_out_before_the_last_answer_is_in(annotator):
    first = claim(annotator).lease
    second = claim(annotator, first.pk).lease
    assert {first.item.lane, second.item.lane} == {"screening"}
    answer(annotator, first)
    third = claim(annotator, second.pk).lease
    answer(annotator, second)
    waiting = claim(annotator, third.pk)
    assert (waiting.lease, waiting.reason) == (None, "holding_enough")
    answer(annotator, third)
    assert claim(annotator).lease.item.lane == "control"


def test_a_skipped_one_counts_as_given_and_not_right(annotator):
    release(by=annotator.user, lease_id=claim(annotator).lease.pk, reason="too hard")
    release(by=annotator.user, lease_id=claim(annotator).lease.pk, reason="too hard")
    assert work(annotator, 2) == ["screening"]
    assert decisions(annotator) == [("failed", 1, 3)]


def test_one_whose_time_ran_out_is_given_again(annotator):
    lease = claim(annotator).lease
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    expire_leases()
    again = claim(annotator).lease
    assert again == lease
    assert (again.state, QueueItem.objects.get(pk=again.item_id).leased) == ("active", 1)
    assert work(annotator, 4) == ["screening"] * 3 + ["control"]


def test_one_that_ran_out_with_its_generation_is_replaced(generation, annotator):
    lease = claim(annotator).lease
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    type(generation).objects.update(state="retired")
    expire_leases()
    later = GenerationFactory(project=generation.project)
    QueueItemFactory(generation=later)
    assert lease.solution_id not in [claim(annotator).lease.solution_id]
    assert work(annotator, 4) == ["screening"] * 3 + ["control"]


def test_gold_that_is_retired_meanwhile_counts_for_nobody(annotator):
    lease = claim(annotator).lease
    answer(annotator, lease, first_error=-1)
    lease.solution.gold_answer.active = False
    lease.solution.gold_answer.save()
    attempt = attempt_of(annotator, latest_decision(annotator))
    assert (attempt.finished, attempt.right) == (0, 0)
    assert work(annotator, 4) == ["screening"] * 3 + ["control"]


def test_too_little_gold_lets_nobody_pass_and_says_so(project):
    late = MembershipFactory(project=project)
    policy(project, late, screening={"items": 9, "pass_mark": 2})
    waiting = claim(late)
    assert (waiting.lease, waiting.reason) == (None, "screening_unready")
    make_gold(project, 1)
    assert claim(late).lease.item.lane == "screening"


def test_further_attempts_are_given_where_the_policy_has_them(project, annotator):
    policy(project, annotator, screening=SCREENING | {"attempts": 2})
    assert work(annotator, 9, first_error=-1) == ["screening"] * 6
    assert [outcome for outcome, _, _ in decisions(annotator)] == ["again", "failed"]
    solutions = Lease.objects.filter(annotator=annotator).values_list("solution", flat=True)
    assert len(set(solutions)) == 6, "each with gold that the person never had"


def test_a_manager_lets_them_try_again_or_in(project, annotator, manager):
    work(annotator, 3, first_error=-1)
    assert claim(annotator).reason == "screening_failed"
    decide(by=manager, membership=annotator, outcome="again")
    assert work(annotator, 3, first_error=-1) == ["screening"] * 3
    assert claim(annotator).reason == "screening_failed"
    decide(by=manager, membership=annotator, outcome="passed", reason="we talked")
    assert claim(annotator).lease.item.lane == "control"
    told = AuditEntry.objects.filter(action="member.screen").order_by("-pk")[0]
    assert (told.by, told.before["outcome"], told.after["reason"]) == (manager, "failed", "we talked")


def test_who_decides_and_what_is_refused(project, annotator, manager):
    with pytest.raises(Forbidden):
        decide(by=MembershipFactory(project=project, role="reviewer").user, membership=annotator, outcome="passed")
    with pytest.raises(DomainError) as refused:
        decide(by=manager, membership=annotator, outcome="maybe")
    assert refused.value.code == "invalid_outcome"
    decide(by=manager, membership=annotator, outcome="passed")
    with pytest.raises(Conflict):
        decide(by=manager, membership=annotator, outcome="passed")
    policy(project, annotator, screening={})
    with pytest.raises(Conflict) as refused:
        decide(by=manager, membership=annotator, outcome="again")
    assert refused.value.code == "screening_off"


def test_decisions_never_change(annotator, manager):
    decision = decide(by=manager, membership=annotator, outcome="passed")
    with pytest.raises(IntegrityError), transaction.atomic():
        type(decision).objects.update(outcome="failed")


def test_staff_and_whoever_worked_here_before_begin_without(project, annotator):
    reviewer = MembershipFactory(project=project, role="reviewer")
    assert work(reviewer, 1) == ["control"]
    policy(project, annotator, screening={})
    assert work(annotator, 1) == ["control"]
    policy(project, annotator, screening=SCREENING)
    assert work(annotator, 1) == ["control"]
    policy(project, reviewer, screening=SCREENING | {"exempt": []})
    assert work(MembershipFactory(project=project, role="reviewer"), 1) == ["screening"]


def test_who_errs_too_often_on_the_latest_gold_is_paused_until_a_manager_decides(project, annotator, manager):
    gold = {"share": 0.5, "pause_below": 0.5, "pause_after": 3}
    policy(project, annotator, screening={}, gold=gold)
    make_gold(project, 20)
    QueueItemFactory.create_batch(30, generation__project=project, generation=project.generations.get())
    lanes = work(annotator, 30, first_error=-1)
    assert lanes.count("gold") == 3
    stopped = claim(annotator)
    assert stopped.reason == "paused"
    assert decisions(annotator) == [("paused", 0, 3)]
    decide(by=manager, membership=annotator, outcome="passed", reason="the guidelines were unclear")
    lanes = work(annotator, 10, first_error=1)
    assert len(lanes) == 10, "what was answered before the decision is not held against them again"


def test_a_pause_is_not_for_staff_and_not_on_too_little(project, annotator):
    gold = {"share": 0.5, "pause_below": 1.0, "pause_after": 3}
    policy(project, annotator, screening={}, gold=gold)
    reviewer = MembershipFactory(project=project, role="reviewer")
    assert work(annotator, 4, first_error=-1).count("gold") == 2
    assert standing(annotator) is None
    assert len(work(reviewer, 6, first_error=-1)) == 6


def test_the_pass_mark_is_no_more_than_the_items(project):
    with pytest.raises(Exception, match="higher than the 3 items"):
        Project(policy={"screening": {"items": 3, "pass_mark": 4}}).policies  # noqa: B018


def test_a_revised_answer_is_judged_by_what_was_said_first(annotator):
    """Else one could look an answer up, or be told it after the screening, and hand in the right one."""
    leases = []
    for _ in range(2):
        leases.append(claim(annotator).lease)
        answer(annotator, leases[-1], first_error=-1)
    for lease in leases:
        answer(annotator, lease, first_error=1, based_on=1)
    work(annotator, 2)
    assert decisions(annotator) == [("failed", 1, 3)]


def test_answers_of_an_earlier_screening_that_are_revised_later_count_for_no_other(annotator, manager):
    leases = [claim(annotator).lease]
    answer(annotator, leases[0], first_error=-1)
    work(annotator, 3, first_error=-1)
    decide(by=manager, membership=annotator, outcome="again")
    answer(annotator, leases[0], first_error=1, based_on=1)
    attempt = attempt_of(annotator, latest_decision(annotator))
    assert (attempt.finished, attempt.right) == (0, 0)


def test_hidden_gold_that_is_revised_saves_nobody_from_a_pause(project, annotator):
    policy(project, annotator, screening={}, gold={"share": 0.5, "pause_below": 0.5, "pause_after": 2})
    QueueItemFactory.create_batch(10, generation=project.generations.get())
    while lease := claim(annotator).lease:
        answer(annotator, lease, first_error=-1)
        answer(annotator, lease, first_error=1, based_on=1)
    assert decisions(annotator) == [("paused", 0, 2)]
