from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import AuditEntry, Lease, Membership, Project, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.queue.leases import expire_leases, heartbeat, release
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def generation():
    return GenerationFactory(project__policy={"queue": {"prefetch_depth": 1, "lease_minutes": 30}})


@pytest.fixture
def annotator(generation):
    return MembershipFactory(project=generation.project)


def overdue(lease):
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


def test_items_come_in_the_order_of_their_rank(generation, annotator):
    second, first = QueueItemFactory(generation=generation, rank=2), QueueItemFactory(generation=generation, rank=1)
    one = claim(annotator).lease
    two = claim(annotator, one.pk).lease
    assert [one.item, two.item] == [first, second]
    first.refresh_from_db()
    assert (first.leased, first.state) == (1, "full")


def test_before_the_first_generation_nobody_is_said_to_be_done(annotator):
    newcomer = MembershipFactory()
    nothing = claim(newcomer)
    assert (nothing.reason, nothing.message) == (
        "not_started",
        "Solutions appear here once the project’s manager opens the first generation.",
    )
    assert claim(annotator).reason == "done"


def test_what_is_in_hand_comes_back_until_the_page_says_that_it_holds_it(generation, annotator):
    QueueItemFactory.create_batch(3, generation=generation)
    one = claim(annotator)
    assert not one.resumed
    again = claim(annotator)
    assert again.resumed
    assert again.lease == one.lease
    two = claim(annotator, one.lease.pk)
    assert two.lease.item != one.lease.item
    assert claim(annotator, one.lease.pk, two.lease.pk).reason == "holding_enough"


def test_every_claim_is_told_also_the_one_that_takes_an_expired_lease_up_again(generation, annotator):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    overdue(lease)
    expire_leases()
    assert claim(annotator).lease == lease
    told = AuditEntry.objects.filter(target_type="lease", target_id=str(lease.pk)).order_by("pk")
    assert [entry.action for entry in told] == ["lease.claim", "lease.expire", "lease.claim"]
    assert told[0].by == annotator.user


def test_nobody_gets_a_solution_twice(generation, annotator):
    item = QueueItemFactory(generation=generation, wanted=3)
    lease = claim(annotator).lease
    release(by=annotator.user, lease_id=lease.pk, reason="not my field")
    assert claim(annotator).reason == "done"
    other = MembershipFactory(project=generation.project)
    assert claim(other).lease.item == item


def test_a_later_generation_does_not_bring_it_back(generation, annotator):
    item = QueueItemFactory(generation=generation, wanted=2)
    release(by=annotator.user, lease_id=claim(annotator).lease.pk)
    type(generation).objects.update(state="retired")
    later = GenerationFactory(project=generation.project)
    QueueItem.objects.update(state="retired")
    QueueItemFactory(generation=later, solution=item.solution)
    assert claim(annotator).reason == "done"


def test_reasons_are_true(generation, annotator):
    project, other = generation.project, MembershipFactory(project=generation.project)
    assert claim(annotator).reason == "done"
    QueueItemFactory(generation=generation)
    lease = claim(other).lease
    nothing = claim(annotator)
    assert (nothing.reason, nothing.retry_at) == ("all_leased", lease.expires_at)
    stranger = MembershipFactory()
    assert claim_next(by=stranger.user, project=project, holding=[]).reason == "not_annotator"
    Project.objects.update(state="paused")
    annotator.project.refresh_from_db()
    assert claim(annotator).reason == "paused"
    other.project.refresh_from_db()
    assert claim(other).lease == lease, "work in hand goes on in a paused project"


def test_a_lease_of_mine_that_holds_a_place_is_no_reason_to_wait(generation, annotator):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    assert claim(annotator, lease.pk).reason == "done"


def test_an_overdue_lease_is_taken_back_at_claim(generation, annotator):
    item = QueueItemFactory(generation=generation)
    other = MembershipFactory(project=generation.project)
    lease = claim(other).lease
    overdue(lease)
    assert claim(annotator).lease.item == item
    lease.refresh_from_db()
    item.refresh_from_db()
    assert (lease.state, item.leased) == ("expired", 1)


def test_an_expired_lease_is_renewed_in_place(generation, annotator):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    overdue(lease)
    assert expire_leases() == 1
    assert expire_leases() == 0
    again = claim(annotator)
    assert (again.lease, again.resumed) == (lease, False)
    assert again.lease.state == "active"


def test_a_heartbeat_extends_and_revives_while_there_is_a_place(generation, annotator):
    item = QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    assert heartbeat(by=annotator.user, lease_id=lease.pk) > lease.expires_at
    overdue(lease)
    expire_leases()
    heartbeat(by=annotator.user, lease_id=lease.pk)
    item.refresh_from_db()
    assert (item.leased, item.state) == (1, "full")
    renewed = AuditEntry.objects.get(action="lease.renew", target_id=str(lease.pk))
    assert (renewed.by, renewed.before, renewed.after) == (annotator.user, {"state": "expired"}, {"state": "active"})
    overdue(lease)
    expire_leases()
    claim(MembershipFactory(project=generation.project))
    with pytest.raises(Exception, match="still kept") as refused:
        heartbeat(by=annotator.user, lease_id=lease.pk)
    assert refused.value.code == "lease_expired"


def test_a_lease_is_its_owners(generation, annotator):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    stranger = MembershipFactory(project=generation.project).user
    for act in (heartbeat, release):
        with pytest.raises(Exception, match="Another annotator") as refused:
            act(by=stranger, lease_id=lease.pk)
        assert refused.value.code == "lease_of_another"


@pytest.mark.parametrize("act", [heartbeat, release])
def test_a_former_member_holds_nothing(generation, annotator, act):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    Membership.objects.update(active=False)
    with pytest.raises(Exception, match="no longer a member") as refused:
        act(by=annotator.user, lease_id=lease.pk)
    assert refused.value.code == "not_annotator"


def test_a_release_gives_the_place_back_once(generation, annotator):
    item = QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    release(by=annotator.user, lease_id=lease.pk, reason="unreadable")
    release(by=annotator.user, lease_id=lease.pk, reason="unreadable")
    item.refresh_from_db()
    lease.refresh_from_db()
    assert (item.leased, item.state, lease.reason) == (0, "ready", "unreadable")


def test_a_skip_that_comes_after_the_time_ran_out_is_kept_whoever_has_the_place(generation, annotator):
    QueueItemFactory(generation=generation)
    lease = claim(annotator).lease
    overdue(lease)
    expire_leases()
    other = claim(MembershipFactory(project=generation.project)).lease
    release(by=annotator.user, lease_id=lease.pk, reason="too long")
    release(by=other.annotator.user, lease_id=other.pk)
    lease.refresh_from_db()
    assert (lease.state, lease.reason) == ("released", "too long")
    assert claim(annotator).lease is None, "it does not come back to whoever skipped it"


def test_what_is_assigned_comes_first_then_what_is_pinned_and_nothing_that_is_paused(generation, annotator):
    other = MembershipFactory(project=generation.project)
    QueueItemFactory(generation=generation, paused=True)
    QueueItemFactory(generation=generation, assigned_to=other)
    last = QueueItemFactory(generation=generation)
    pinned = QueueItemFactory(generation=generation, pinned=True)
    mine = QueueItemFactory(generation=generation, assigned_to=annotator)
    got = []
    for _ in range(3):
        lease = claim(annotator).lease
        got.append(lease.item)
        release(by=annotator.user, lease_id=lease.pk)
    assert got == [mine, pinned, last]
    assert claim(annotator).reason == "paused"
