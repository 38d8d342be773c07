"""People are told how far their screening is and how it ended, with numbers where the policy says so."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import ScreeningDecision
from annotation.work.gold import screening as decided
from annotation.work.gold.screening import decide
from annotation.work.practice import screening_progress as told
from annotation.work.practice.screening_progress import Standing, describe_standing, screening_of
from annotation.work.queue.leases import release
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import claim, make_gold, work

pytestmark = pytest.mark.django_db
WRONG = -1  # the gold has its first error at step 1


def newcomer(**screening):
    policy = {"screening": {"items": 2, "pass_mark": 1} | screening, "gold": {"share": 0}}
    generation = GenerationFactory(project__policy=policy)
    make_gold(generation.project, 6)
    QueueItemFactory.create_batch(3, generation=generation)
    return MembershipFactory(project=generation.project)


def test_how_far_it_is():
    person = newcomer()
    assert describe_standing(person) == Standing(items=2, finished=0)
    release(by=person.user, lease_id=claim(person).lease.pk, reason="no idea")
    assert describe_standing(person) == Standing(items=2, finished=1)


@pytest.mark.parametrize(("feedback", "numbers"), [(True, (1, 2)), (False, (None, None))])
def test_who_passed_is_told_until_they_have_handed_in_ordinary_work(feedback, numbers):
    person = newcomer(feedback=feedback)
    work(person, 1, first_error=WRONG)
    work(person, 1)
    passed = Standing(2, 2, "passed", *numbers)
    assert describe_standing(person) == passed
    assert not ScreeningDecision.objects.exists(), "it is told before it is written down, and telling writes nothing"
    claim(person)
    assert describe_standing(person) == passed
    work(person, 1)
    assert describe_standing(person) is None


@pytest.mark.parametrize(("attempts", "outcome", "given"), [(1, "failed", 2), (2, "again", 0)])
def test_who_failed_is_told_whether_they_may_try_again(attempts, outcome, given):
    person = newcomer(attempts=attempts, feedback=True)
    work(person, 2, first_error=WRONG)
    told = Standing(2, given, outcome, right=0, of=2)
    assert describe_standing(person) == told
    claim(person)
    assert describe_standing(person) == told


@pytest.mark.parametrize(
    ("first_error", "expected"),
    [(1, Standing(2, 2, "passed", right=2, of=2)), (WRONG, Standing(2, 0, "again", right=0, of=2))],
)
def test_what_is_written_down_while_it_is_told_is_told_once(monkeypatch, first_error, expected):
    person = newcomer(attempts=2, feedback=True)
    work(person, 2, first_error=first_error)
    read = decided.latest_decision

    def read_before_it_is_written(membership):
        monkeypatch.undo()
        latest = read(membership)
        claim(person)
        return latest

    for module in (told, decided):
        monkeypatch.setattr(module, "latest_decision", read_before_it_is_written)
    assert describe_standing(person) == expected
    assert ScreeningDecision.objects.count() == 1


def test_a_managers_word_has_no_numbers():
    person = newcomer(feedback=True)
    manager = MembershipFactory(project=person.project, role="manager").user
    decide(by=manager, membership=person, outcome="passed")
    assert describe_standing(person) == Standing(2, 2, "passed")
    decide(by=manager, membership=person, outcome="paused")
    assert describe_standing(person) is None


def test_whom_nobody_screens_is_told_nothing():
    assert describe_standing(newcomer(items=0)) is None
    person = newcomer()
    assert describe_standing(MembershipFactory(project=person.project, role="reviewer")) is None


def test_a_long_screening_takes_no_more_queries_to_show_than_a_short_one():
    def seen_after(items):
        person = newcomer(items=items, feedback=True)
        work(person, items + 1)
        with CaptureQueriesContext(connection) as queries:
            assert len(screening_of(person)) == items
        return len(queries)

    assert seen_after(1) == seen_after(5)
