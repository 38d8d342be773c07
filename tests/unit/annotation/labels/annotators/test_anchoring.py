"""Figures of hints against known answers, and read from what people handed in."""

import uuid
from datetime import UTC, datetime, timedelta
from math import exp, log

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.annotators.anchoring import Known, Logs, difference, on_known, pace_of, ratio
from annotation.labels.annotators.hint_effects import compare_hints
from annotation.models import Annotation, GoldAnswer, Hint, Lease, StepRating
from annotation.work.gold.gold_accuracy import Answer, share_of
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProjectFactory,
    QueueItemFactory,
)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_the_difference_of_shares_is_that_of_newcombes_table(one, other, low, high):
    """Table II, method 10, of the paper: contrasts (a), (b) and (g)."""
    found = difference(share_of(*one), share_of(*other))
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@given(st.integers(0, 60), st.integers(1, 60), st.integers(0, 60), st.integers(1, 60))
def test_a_difference_lies_within_its_interval_and_turns_its_sign_with_the_arms(a, m, b, n):
    one, other = share_of(min(a, m), m), share_of(min(b, n), n)
    gap, turned = difference(one, other), difference(other, one)
    assert -1 - 1e-9 <= gap.low <= gap.value <= gap.high <= 1 + 1e-9
    assert (gap.low, gap.high) == (pytest.approx(-turned.high), pytest.approx(-turned.low))


def test_an_arm_without_labels_has_no_difference():
    assert difference(share_of(0, 0), share_of(3, 4)) is None
    assert ratio(Logs(), Logs(5, 1.0, 0.2)) is None
    assert pace_of(Logs()).seconds is None


def test_paces_are_geometric_means_with_students_interval():
    """Ten logarithms with deviation 1: the 97.5 % point of t with 9 degrees of freedom is 2.262."""
    found = pace_of(Logs(10, log(6), 1.0))
    assert found.seconds == pytest.approx(6)
    assert found.high == pytest.approx(6 * exp(2.262 / 10**0.5), rel=1e-3)


def test_the_ratio_of_paces_has_welchs_interval():
    """Equal deviations and counts give Student's test with 18 degrees of freedom: t = 2.101."""
    found = ratio(Logs(10, log(8), 0.5), Logs(10, log(10), 0.5))
    assert found.value == pytest.approx(0.8)
    assert found.low == pytest.approx(0.8 * exp(-2.101 * 0.5 * (2 / 10) ** 0.5), rel=1e-3)


def test_who_follows_a_wrong_model_is_misled_and_nobody_is_by_a_right_one():
    def known(said, verdict, truth=2):
        return Known(Answer(1, 1, said, truth), verdict)

    labels = [known(2, 1), known(1, 1), known(-1, 1), known(2, 2), known(3, None), known(1, 2)]
    right, misled = on_known(labels)
    assert (right.count, right.of) == (2, 6)
    assert (misled.count, misled.of) == (1, 3)


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def hand_in(project):
    """A label of a person on a solution of four steps, with the draw that came before it."""
    generation = GenerationFactory(project=project)
    version = ModelVersionFactory(project=project)
    people = MembershipFactory.create_batch(2, project=project)
    now = timezone.now()

    def hand_in(said, *, shown, verdict=1, seconds=10, seen=(), share=0.5, reveal="reached", who=0, **fields):
        item = QueueItemFactory(generation=generation, solution__steps=["a", "b", "c", "d"])
        lease = Lease.objects.create(
            item=item, solution=item.solution, annotator=people[who], claimed_at=now, expires_at=now
        )
        Hint.objects.create(
            lease=lease,
            model_version=version,
            scores=[0.9, 0.2, 0.8, 0.7],
            verdict=verdict,
            share=share,
            reveal=reveal,
            shown=shown,
            seen=list(seen),
            drawn_at=now,
        )
        return AnnotationFactory(
            solution=item.solution, annotator=people[who], lease=lease, item=item, first_error=said,
            total_ms=seconds and 1000 * seconds, **fields,
        )  # fmt: skip

    return hand_in


@pytest.mark.django_db
def test_arms_are_compared_by_what_was_drawn(project, hand_in):
    for said in (1, 1, 1, -1):
        hand_in(said, shown=True, seconds=4)
    for said in (1, 2, -1, -1):
        hand_in(said, shown=False, seconds=12)
    hand_in(1, shown=False, verdict=None)
    [found] = compare_hints(project)
    assert (found.share, found.reveal) == (0.5, "reached")
    assert (found.hinted.labels, found.blind.labels) == (4, 5)
    assert (found.hinted.agrees.count, found.hinted.agrees.of) == (3, 4)
    assert (found.blind.agrees.count, found.blind.agrees.of) == (1, 4), "a model that cannot say agrees with nobody"
    assert (found.hinted.finds.count, found.blind.finds.count) == (3, 3)
    assert found.gaps.agrees.value == pytest.approx(0.5)
    assert found.hinted.pace.seconds == pytest.approx((2.0**3 * 1.0) ** (1 / 4)), "steps up to the first error are read"
    assert found.gaps.pace.value < 1
    assert found.gaps.right is None, "nothing is known of these"


@pytest.mark.django_db
def test_people_are_held_to_gold_but_not_to_their_own_word(project, hand_in):
    for shown, said in ((True, 1), (True, 2), (False, 2)):
        label = hand_in(said, shown=shown)
        GoldAnswer.objects.create(project=project, solution=label.solution, annotation=reference(label.solution, 2))
    own = hand_in(2, shown=False)
    GoldAnswer.objects.create(project=project, solution=own.solution, annotation=own)
    [found] = compare_hints(project)
    assert (found.hinted.right.count, found.hinted.right.of) == (1, 2)
    assert (found.blind.right.count, found.blind.right.of) == (1, 1)
    assert (found.hinted.misled.count, found.hinted.misled.of) == (1, 2)
    assert (found.blind.misled.count, found.blind.misled.of) == (0, 1)


@pytest.mark.django_db
def test_accuracy_without_hints_is_shown_beside_that_with_hints_by_week(project, hand_in):
    monday = datetime(2026, 11, 2, tzinfo=UTC)
    for days, shown, said in ((0, False, 2), (6, False, 1), (7, False, 1), (7, True, 2)):
        label = hand_in(said, shown=shown, submitted_at=monday + timedelta(days=days))
        GoldAnswer.objects.create(project=project, solution=label.solution, annotation=reference(label.solution, 2))
    [found] = compare_hints(project)
    assert [
        (week.start.isoformat(), week.blind.count, week.blind.of, week.hinted.count, week.hinted.of)
        for week in found.weeks
    ] == [("2026-11-02", 1, 2, 0, 0), ("2026-11-09", 0, 1, 1, 1)]


def reference(solution, first_error):
    source = LabelSourceFactory(project=solution.project, kind="human", name="expert")
    return AnnotationFactory(solution=solution, annotator=None, source=source, first_error=first_error)


@pytest.mark.django_db
def test_each_way_of_drawing_is_compared_by_itself_the_latest_first(project, hand_in):
    hand_in(1, shown=True, share=0.2)
    hand_in(1, shown=False, share=0.2)
    hand_in(1, shown=True, reveal="rated")
    designs = [(found.share, found.reveal) for found in compare_hints(project)]
    assert designs == [(0.5, "rated"), (0.2, "reached")]


@pytest.mark.django_db
def test_second_thoughts_are_counted_where_the_own_word_came_first(project, hand_in):
    label = hand_in(1, shown=True, reveal="rated", seen=[[0, 1], [1, 1], [2, None]])
    unopened = hand_in(-1, shown=True, reveal="rated")
    for step, rating in zip(label.solution.steps.order_by("position"), (1, -1, 1), strict=False):
        StepRating.objects.create(annotation=label, step=step, state="rated", rating=rating)
    [found] = compare_hints(project)
    assert (found.changed.count, found.changed.of) == (1, 2)
    assert (found.opened.count, found.opened.of) == (1, 2)
    assert unopened.solution_id != label.solution_id


@pytest.mark.django_db
def test_only_peoples_first_words_that_tell_a_first_error_are_compared(project, hand_in):
    first = hand_in(1, shown=True)
    AnnotationFactory(
        solution=first.solution, annotator=first.annotator, lease=first.lease, revision=2, first_error=3,
        submission_id=uuid.uuid4(),
    )  # fmt: skip
    hand_in(None, shown=True, finish_reason="give_up", reason="too hard")
    hand_in(1, shown=True, who=1, source=LabelSourceFactory(project=project, kind="simulated"))
    [found] = compare_hints(project)
    assert (found.hinted.labels, found.hinted.agrees.count) == (1, 1)
    assert Annotation.objects.count() == 4
