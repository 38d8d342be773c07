"""Whatever people, managers and clocks do in whatever order: the books are right, and the queue tells the truth."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from annotation.core.errors import Conflict
from annotation.models import Generation, LaneTally, Lease, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.queue.items import Selection, lock_items, replace_items, save_places
from annotation.work.queue.leases import expire_leases, heartbeat, release
from annotation.work.queue.managing import hand_over_waiting
from tests.factories import GenerationFactory, MembershipFactory, SolutionFactory

MEMBERS, SOLUTIONS = 4, 9  # the last member is a machine
LANES = ["control", "acquisition", "overlap"]
ROUTES = ["person", "judge", "person"] * 2 + ["person"] * 3
some = st.integers(0, 10**6)


class Queue(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.sandbox = transaction.atomic()
        self.sandbox.__enter__()
        generation = GenerationFactory(project__policy={"queue": {"prefetch_depth": 2}})
        self.project = generation.project
        self.people = [MembershipFactory(project=self.project, kind=kind) for kind in ("person",) * 3 + ("machine",)]
        self.manager = MembershipFactory(project=self.project, role="manager")
        self.solutions = [SolutionFactory(project=self.project, steps=["So it is."]) for _ in range(SOLUTIONS)]
        self.ended = Counter()  # (person, solution) that were submitted or skipped

    def teardown(self):
        transaction.set_rollback(True)
        self.sandbox.__exit__(None, None, None)

    @initialize(wanted=st.lists(st.integers(1, 3), min_size=SOLUTIONS, max_size=SOLUTIONS))
    def fill(self, wanted):
        self.fill_generation(wanted)

    def fill_generation(self, wanted):
        replace_items(
            generation=Generation.objects.get(project=self.project, state="open"),
            selections=[
                Selection(solution_id=solution.pk, lane=LANES[place % 3], wanted=number, route=ROUTES[place])
                for place, (solution, number) in enumerate(zip(self.solutions, wanted, strict=True))
            ],
        )

    @rule(which=some)
    def claim(self, which):
        person = self.people[which % MEMBERS]
        held = list(Lease.objects.filter(annotator=person, state="active").values_list("pk", flat=True))
        open_to = self.open_to(person)
        claim = claim_next(by=person.user, project=self.project, holding=held)
        if claim.lease is None:
            assert claim.reason in {"done", "all_leased", "paused", "holding_enough"}
            assert (claim.reason == "holding_enough") == (len(held) > 2)
            assert claim.reason == "holding_enough" or not open_to, "nothing left is said only when it is true"
            assert (claim.reason == "all_leased") == (claim.retry_at is not None)
            return
        assert claim.lease.item_id in open_to
        assert not self.ended[person.pk, claim.lease.solution_id], "nobody gets a solution twice"
        laid_before = open_to & set(QueueItem.objects.filter(assigned_to=person).values_list("pk", flat=True))
        assert not laid_before or claim.lease.item_id in laid_before

    def open_to(self, person):
        """Ids of the items that this person may be given, said in the plainest way."""
        had = Lease.objects.filter(annotator=person).exclude(state="expired").values("solution")
        late = Lease.objects.filter(state="active", expires_at__lt=timezone.now(), item__generation__state="open")
        free = Q(state="ready") | Q(pk__in=late.values("item"))
        offered = QueueItem.objects.filter(free, project=self.project, paused=False, generation__state="open")
        offered = offered.filter(taker=person.kind)
        mine = offered.filter(Q(assigned_to=None) | Q(assigned_to=person)).exclude(solution__in=had)
        return set(mine.values_list("pk", flat=True))

    @rule(which=some)
    def submit(self, which):
        lease = self.active(which)
        if lease is None:
            return
        [item] = lock_items([lease.item_id])
        item.leased, item.done = item.leased - 1, item.done + 1
        save_places([item])
        Lease.objects.filter(pk=lease.pk).update(state="submitted", ended_at=timezone.now())
        self.ended[lease.annotator_id, lease.solution_id] += 1

    @rule(which=some)
    def skip(self, which):
        if lease := self.active(which):
            release(by=lease.annotator.user, lease_id=lease.pk)
            self.ended[lease.annotator_id, lease.solution_id] += 1

    @rule(which=some, swept=st.booleans())
    def run_out(self, which, swept):
        if lease := self.active(which):
            Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
        if swept:
            expire_leases()

    @rule(which=some)
    def beat(self, which):
        leases = Lease.objects.filter(item__project=self.project, state__in=["active", "expired"]).order_by("pk")
        if leases:
            lease = leases[which % len(leases)]
            with suppress(Conflict):
                heartbeat(by=lease.annotator.user, lease_id=lease.pk)

    @rule()
    def hand_over(self):
        hand_over_waiting(by=self.manager.user, project=self.project)

    @rule(which=some, paused=st.booleans(), to=st.sampled_from([None, 0, 1]))
    def manage(self, which, paused, to):
        items = QueueItem.objects.filter(project=self.project).order_by("pk")
        item = items[which % len(items)]
        person = None if to is None else self.people[to]
        QueueItem.objects.filter(pk=item.pk).update(paused=paused, assigned_to=person, pinned=bool(which % 2))

    @rule(wanted=st.lists(st.integers(1, 3), min_size=SOLUTIONS, max_size=SOLUTIONS))
    def replace(self, wanted):
        Generation.objects.filter(project=self.project, state="open").update(state="retired")
        GenerationFactory(project=self.project)
        self.fill_generation(wanted)

    def active(self, which):
        leases = Lease.objects.filter(item__project=self.project, state="active").order_by("pk")
        return leases[which % len(leases)] if leases else None

    @invariant()
    def the_books_are_right(self):
        items = QueueItem.objects.filter(project=self.project)
        assert not items.filter(wanted__lt=F("leased") + F("done")).exists()
        held = items.annotate(held=Count("leases", filter=Q(leases__state="active")))
        assert all(item.leased == item.held for item in held)
        assert max(self.ended.values(), default=1) == 1
        counted = items.exclude(state="retired").values("generation", "lane", "taker")
        counted = counted.annotate(all_wanted=Sum("wanted"), all_taken=Sum(F("leased") + F("done"))).order_by()
        gone = (
            items.filter(state="retired").values("generation", "lane", "taker").annotate(done_=Sum("done")).order_by()
        )
        books = Counter()
        for row in counted:
            books[row["generation"], row["lane"], row["taker"], "wanted"] += row["all_wanted"]
            books[row["generation"], row["lane"], row["taker"], "taken"] += row["all_taken"]
        for row in gone:
            books[row["generation"], row["lane"], row["taker"], "wanted"] += row["done_"]
            books[row["generation"], row["lane"], row["taker"], "taken"] += row["done_"]
        tallies = LaneTally.objects.filter(generation__project=self.project)
        for tally in tallies:
            assert tally.wanted == books[tally.generation_id, tally.lane, tally.taker, "wanted"]
            assert tally.taken == books[tally.generation_id, tally.lane, tally.taker, "taken"]


@pytest.mark.slow
@pytest.mark.django_db
def test_the_queue_holds_its_promises():
    run_state_machine_as_test(
        Queue,
        settings=settings(
            max_examples=6, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
