"""What the project's policy says of who gets what when, and what is said where there is nothing."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from annotation.models import Frontier, Lease, QueueItem
from annotation.work.queue.leases import expire_leases, release
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MembershipFactory,
    ProblemFactory,
    QueueItemFactory,
    SolutionFactory,
)
from tests.unit.annotation.work.queue.gold_world import claim

pytestmark = pytest.mark.django_db


def world(**queue):
    """An open generation and a person in it; `queue` is the queue's policy."""
    generation = GenerationFactory(
        project__policy={"queue": {"prefetch_depth": 10, **queue}, "rounds": {"time_zone": "Pacific/Kiritimati"}}
    )
    return generation, MembershipFactory(project=generation.project)


def skip(membership, lease):
    release(by=membership.user, lease_id=lease.pk)


def of_one_problem(generation, count, **fields):
    problem = ProblemFactory(project=generation.project)
    return [
        QueueItemFactory(
            generation=generation, solution=SolutionFactory(project=generation.project, problem=problem), **fields
        )
        for _ in range(count)
    ]


def midnight_after(moment):
    local = moment.astimezone(ZoneInfo("Pacific/Kiritimati"))
    return local.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def test_the_daily_cap_counts_what_was_labelled_today_and_what_is_in_hand():
    generation, person = world(daily_cap=2)
    QueueItemFactory.create_batch(5, generation=generation)
    today = AnnotationFactory(annotator=person, solution=SolutionFactory(project=generation.project))
    assert today.submitted_at <= timezone.now()
    AnnotationFactory(
        annotator=person,
        solution=SolutionFactory(project=generation.project),
        submitted_at=timezone.now() - timedelta(days=2),
    )
    lease = claim(person).lease
    nothing = claim(person, lease.pk)
    assert (nothing.reason, nothing.retry_at) == ("cap_reached", midnight_after(timezone.now()))
    skip(person, lease)
    assert claim(person).lease, "what was skipped does not count"
    assert claim(MembershipFactory(project=generation.project)).lease, "the cap is each person's own"


def test_another_solution_of_a_problem_comes_after_the_cool_down():
    generation, person = world(cool_down_minutes=90)
    of_one_problem(generation, 2)
    lease = claim(person).lease
    assert claim(person, lease.pk).reason == "cooling_down", "one in hand is not over"
    skip(person, lease)
    nothing = claim(person)
    lease.refresh_from_db()
    assert (nothing.reason, nothing.retry_at) == ("cooling_down", lease.ended_at + timedelta(minutes=90))
    other = QueueItemFactory(generation=generation)
    between = claim(person)
    assert between.lease.item == other, "other problems come meanwhile"
    Lease.objects.filter(pk=lease.pk).update(ended_at=timezone.now() - timedelta(minutes=91))
    assert claim(person, between.lease.pk).lease


def test_another_solution_of_a_problem_comes_on_the_next_day():
    generation, person = world(problem_again="next_day")
    of_one_problem(generation, 2)
    lease = claim(person).lease
    skip(person, lease)
    nothing = claim(person)
    assert (nothing.reason, nothing.retry_at) == ("cooling_down", midnight_after(timezone.now()))
    Lease.objects.filter(pk=lease.pk).update(ended_at=timezone.now() - timedelta(days=1))
    assert claim(person).lease


def test_another_solution_of_a_problem_never_comes():
    generation, person = world(problem_again="never")
    of_one_problem(generation, 2)
    skip(person, claim(person).lease)
    assert claim(person).reason == "done"
    assert claim(MembershipFactory(project=generation.project)).lease


def test_people_get_problems_of_their_domains_only():
    generation, person = world()
    person.domains = ["geometry"]
    person.save()
    QueueItemFactory(generation=generation)
    assert claim(person).reason == "not_qualified"
    mine = QueueItemFactory(
        generation=generation,
        solution=SolutionFactory(
            project=generation.project, problem=ProblemFactory(project=generation.project, domain="geometry")
        ),
    )
    assert claim(person).lease.item == mine


def test_what_comes_back_below_a_persons_frontier_is_given_to_them():
    generation, person = world()
    first, *_ = QueueItemFactory.create_batch(4, generation=generation)
    other = MembershipFactory(project=generation.project)
    held = claim(other).lease
    assert held.item == first
    for _ in range(2):
        skip(person, claim(person).lease)
    assert Frontier.objects.get(annotator=person).rank > first.rank
    skip(other, held)
    assert claim(person).lease.item == first


@pytest.mark.parametrize("change", [{"paused": True}, {"assigned_to": "other"}])
def test_what_is_opened_again_is_given_to_who_had_passed_it_by(change):
    generation, person = world()
    first, *_ = QueueItemFactory.create_batch(3, generation=generation)
    other = MembershipFactory(project=generation.project)
    changes = {name: other if value == "other" else value for name, value in change.items()}
    QueueItem.objects.filter(pk=first.pk).update(**changes)
    skip(person, claim(person).lease)
    QueueItem.objects.filter(pk=first.pk).update(paused=False, assigned_to=None)
    assert claim(person).lease.item == first


def test_a_long_history_is_passed_once():
    generation, person = world()
    QueueItemFactory.create_batch(6, generation=generation, wanted=3)
    ranks = []
    for _ in range(6):
        lease = claim(person).lease
        ranks.append(lease.item.rank)
        skip(person, lease)
    assert ranks == sorted(ranks)
    assert Frontier.objects.get(annotator=person).rank >= ranks[-2]


def test_what_a_person_had_begun_comes_first_when_their_time_ran_out():
    generation, person = world()
    QueueItemFactory.create_batch(3, generation=generation, wanted=2)
    one = claim(person).lease
    two = claim(person, one.pk).lease
    Lease.objects.filter(pk=two.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    expire_leases()
    assert claim(person, one.pk).lease == two


def test_all_that_is_left_is_paused():
    generation, person = world()
    QueueItemFactory(generation=generation, paused=True)
    nothing = claim(person)
    assert (nothing.reason, nothing.retry_at) == ("paused", None)


def test_of_two_reasons_the_one_that_ends_first_is_said():
    generation, person = world(cool_down_minutes=10, lease_minutes=30)
    of_one_problem(generation, 2)
    skip(person, claim(person).lease)
    elsewhere = QueueItemFactory(generation=generation, rank=0)
    assert claim(MembershipFactory(project=generation.project)).lease.item == elsewhere
    assert claim(person).reason == "cooling_down"
    person.project.policy["queue"]["cool_down_minutes"] = 60
    assert claim(person).reason == "all_leased"
