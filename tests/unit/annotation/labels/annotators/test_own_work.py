"""What people are told of their own work, and what they are not, so that gold stays hidden."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.labels.annotators.own_work import DAYS, LEAST, own_work
from annotation.models import GoldAnswer
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory

pytestmark = pytest.mark.django_db
YESTERDAY = timedelta(days=1)


@pytest.fixture
def annotator():
    return MembershipFactory()


def label(annotator, *, ago=YESTERDAY, **fields):
    fields = {"first_error": -1, "total_ms": 30_000} | fields
    return AnnotationFactory(
        annotator=annotator,
        submitted_at=timezone.now() - ago,
        finish_reason="solution" if fields["first_error"] < 0 else "found_error",
        **({"solution__project": annotator.project} if "solution" not in fields else {}),
        **fields,
    )


def answer_gold(annotator, count, *, ago=YESTERDAY, right=True):
    for _ in range(count):
        given = label(annotator, ago=ago, lane="gold", first_error=-1 if right else 1)
        known = AnnotationFactory(solution=given.solution, annotator=None, first_error=-1, source__name="file")
        GoldAnswer.objects.create(project=annotator.project, solution=given.solution, annotation=known)


def agree(annotator, other, count, *, ago=YESTERDAY, same=True):
    for _ in range(count):
        own = label(annotator, ago=ago)
        label(other, ago=ago, solution=own.solution, first_error=-1 if same else 1)


def test_labels_and_time_are_those_of_the_latest_revisions(annotator):
    first = label(annotator, ago=timedelta(0), total_ms=10_000)
    label(annotator, ago=timedelta(0), solution=first.solution, source=first.source, revision=2, total_ms=20_000)
    label(annotator, total_ms=40_000)
    label(MembershipFactory(project=annotator.project))
    mine = own_work(annotator)
    assert (mine.today, mine.total, mine.seconds, mine.median_seconds) == (1, 2, 60.0, 30.0)
    *_, yesterday, today = mine.days
    assert (today.labels, today.seconds, yesterday.labels, len(mine.days)) == (1, 20.0, 1, DAYS)


def test_nobody_is_told_of_a_few_answers_or_of_todays(annotator):
    answer_gold(annotator, LEAST - 1)
    answer_gold(annotator, 3, ago=timedelta(0), right=False)
    assert own_work(annotator).gold is None
    answer_gold(annotator, 1, right=False)
    gold = own_work(annotator).gold
    assert (gold.count, gold.of) == (LEAST - 1, LEAST), "today's answers wait until tomorrow"


def test_agreement_is_with_others_on_the_same_solutions(annotator):
    other = MembershipFactory(project=annotator.project)
    agree(annotator, other, 7)
    agree(annotator, other, 3, same=False)
    agree(annotator, other, 2, ago=timedelta(0), same=False)
    answer_gold(annotator, 2)
    label(other)
    peers = own_work(annotator).peers
    assert (peers.count, peers.of) == (7, 10)


@pytest.mark.parametrize("told", ["gold", "peers"])
def test_a_project_may_tell_neither(annotator, told):
    answer_gold(annotator, LEAST)
    agree(annotator, MembershipFactory(project=annotator.project), LEAST)
    assert getattr(own_work(annotator), told) is not None
    annotator.project.policy = {"feedback": {told: False}}
    assert getattr(own_work(annotator), told) is None


def test_days_are_those_of_the_projects_time_zone(annotator):
    annotator.project.policy = {"rounds": {"time_zone": "Pacific/Kiritimati"}}
    [*_, today] = own_work(annotator).days
    annotator.project.policy = {"rounds": {"time_zone": "Pacific/Pago_Pago"}}
    [*_, before] = own_work(annotator).days
    assert today.day - before.day >= timedelta(days=1)


def test_whoever_is_no_member_has_done_nothing(annotator):
    label(annotator)
    stranger = MembershipFactory.build(project=annotator.project, user=annotator.user)
    assert own_work(stranger).total == 0
    assert own_work(MembershipFactory(project=ProjectFactory())).gold is None
