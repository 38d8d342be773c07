"""Hidden gold comes at its rate, at places nobody can foretell, never twice, and looks like everything else."""

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Annotation, AuditEntry, Lease, Membership, Project, QueueItem
from annotation.work.gold.designation import retire_gold
from annotation.work.gold.hidden_gold import due, place_in_block
from annotation.work.queue.leases import expire_leases, release
from tests.api_client import api_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import answer, claim, make_gold, work

SHARE = 0.2


@pytest.fixture
def generation():
    return GenerationFactory(project__policy={"gold": {"share": SHARE}})


@pytest.fixture
def annotator(generation):
    return MembershipFactory(project=generation.project)


@pytest.mark.slow
@pytest.mark.django_db
def test_after_n_solutions_a_share_of_n_were_gold_give_or_take_one(generation, annotator):
    make_gold(generation.project, 12)
    QueueItemFactory.create_batch(40, generation=generation)
    lanes = work(annotator, 45)
    assert len(lanes) == 45
    for n in range(1, len(lanes) + 1):
        assert abs(lanes[:n].count("gold") - n * SHARE) <= 1
    places = [n for n, lane in enumerate(lanes) if lane == "gold"]
    assert places == [place_in_block(annotator, block, SHARE) for block in range(9)]
    other = MembershipFactory(project=generation.project)
    assert [place_in_block(other, block, SHARE) for block in range(9)] != places, "each person has places of their own"
    assert Annotation.objects.filter(lane="gold", counted=True).count() == 9


@given(share=st.floats(0.01, 0.5), blocks=st.integers(1, 60), person=st.integers(1, 10**6))
def test_one_place_falls_into_each_block(share, blocks, person):
    """So the deficit is below one at any n: the k-th place lies in [k / share, (k + 1) / share)."""
    member = Membership(pk=person)
    places = [place_in_block(member, block, share) for block in range(blocks)]
    assert places == sorted(set(places))
    assert all(block / share <= place < (block + 1) / share for block, place in enumerate(places))


@pytest.mark.slow
@pytest.mark.django_db
def test_gold_never_comes_twice_to_a_person_and_runs_out_quietly(generation, annotator):
    make_gold(generation.project, 2)
    QueueItemFactory.create_batch(30, generation=generation)
    lanes = work(annotator, 40)
    assert lanes.count("gold") == 2
    assert lanes.count("control") == 30, "ordinary work goes on without it"
    assert claim(annotator).reason == "done"
    make_gold(generation.project, 5)
    QueueItemFactory.create_batch(3, generation=generation)
    assert work(annotator, 3).count("gold") <= 2, "and what comes later is not made up for all at once"


@pytest.mark.django_db
def test_gold_that_is_skipped_does_not_come_back_and_one_whose_time_ran_out_does(generation, annotator):
    make_gold(generation.project, 6)
    QueueItemFactory.create_batch(30, generation=generation)
    lease = until_gold(annotator)
    release(by=annotator.user, lease_id=lease.pk, reason="not my field")
    second = until_gold(annotator)
    assert second.solution_id != lease.solution_id
    Lease.objects.filter(pk=second.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    expire_leases()
    first = claim(annotator).lease  # the gold of the next block may be due at this very place
    answer(annotator, first)
    assert second in (first, claim(annotator).lease)


@pytest.mark.django_db
def test_nobody_is_measured_by_their_own_word_nor_by_gold_that_was_retired(generation):
    project = generation.project
    reviewer = MembershipFactory(project=project, role="reviewer")
    own, retired, of_another = make_gold(project, 3)
    type(own).objects.filter(pk=retired.pk).update(active=False)
    label = Annotation.objects.get(pk=own.annotation_id)
    label.pk, label.submission_id, label.annotator, label.source = None, "0" * 31 + "1", reviewer, label.source
    label.save(force_insert=True)
    type(own).objects.filter(pk=own.pk).update(annotation=label)
    QueueItemFactory.create_batch(20, generation=generation)
    leases = Lease.objects.filter(annotator=reviewer, item__lane="gold")
    work(reviewer, 30)
    assert list(leases.values_list("solution", flat=True)) == [of_another.solution_id]


@pytest.mark.django_db
def test_no_gold_is_given_where_there_is_none_no_share_or_no_open_generation(generation, annotator):
    QueueItemFactory.create_batch(12, generation=generation)
    annotator.project = generation.project
    assert work(annotator, 6).count("gold") == 0
    make_gold(generation.project, 3)
    Project.objects.update(policy={"gold": {"share": 0}})
    annotator.project.refresh_from_db()
    assert due(annotator) is None
    assert work(annotator, 6).count("gold") == 0
    Project.objects.update(policy={"gold": {"share": 0.5}})
    annotator.project.refresh_from_db()
    type(generation).objects.update(state="retired")
    assert claim(annotator).reason == "done"


@pytest.mark.django_db
def test_a_new_generation_lets_gold_in_hand_finish(generation, annotator):
    make_gold(generation.project, 3)
    QueueItemFactory.create_batch(10, generation=generation)
    lease = until_gold(annotator)
    type(generation).objects.update(state="retired")
    answer(annotator, lease)
    item = QueueItem.objects.get(pk=lease.item_id)
    assert (item.state, item.done, item.leased) == ("done", 1, 0)
    assert Annotation.objects.get(lease=lease).counted


@pytest.mark.django_db
def test_an_annotator_goes_on_after_their_expired_gold_became_ordinary_work(generation, annotator):
    make_gold(generation.project, 6)
    QueueItemFactory.create_batch(30, generation=generation)
    lease = until_gold(annotator)
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    expire_leases()
    retire_gold(by=MembershipFactory(project=generation.project, role="manager").user, gold=lease.solution.gold_answer)
    QueueItemFactory(generation=generation, solution=lease.solution)
    assert work(annotator, 10).count("gold") in (1, 2, 3)
    assert Annotation.objects.get(solution=lease.solution, annotator=annotator).lane == "control"


@pytest.mark.django_db
def test_what_an_annotator_sees_of_gold_has_the_same_shape_and_no_word_of_it(generation, annotator):
    make_gold(generation.project, 6)
    QueueItemFactory.create_batch(20, generation=generation)
    client = api_of(annotator.user)
    seen = {"gold": [], "control": []}
    for _ in range(12):
        told = client.post(f"/api/v1/projects/{annotator.project.slug}/claim/", {}, format="json")
        lease = Lease.objects.select_related("item", "solution").get(pk=told.json()["task"]["lease"]["id"])
        seen[lease.item.lane].append(shape(told.json()))
        assert "gold" not in told.content.decode()
        answer(annotator, lease)
    assert seen["gold"]
    assert all(one == seen["control"][0] for one in seen["gold"])
    assert AuditEntry.objects.filter(action="lease.claim").count() == 12
    mine = client.get(f"/api/v1/projects/{annotator.project.slug}/my-progress/")
    assert "gold" not in mine.content.decode()


def shape(value):
    """Keys and types, without the values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value)


def until_gold(member):
    while (lease := claim(member).lease).item.lane != "gold":
        answer(member, lease)
    return lease
