"""The arithmetic of places, and one generation taking over from another."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import DomainError
from annotation.models import Generation, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.queue import items
from annotation.work.queue.items import Selection, replace_items, settle
from annotation.work.queue.leases import release
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory, SolutionFactory


@given(wanted=st.integers(1, 4), moves=st.lists(st.sampled_from(["claim", "submit", "free", "retire"]), max_size=12))
def test_the_state_follows_the_counters(wanted, moves):
    generation = Generation(state="open")
    item = QueueItem(generation=generation, wanted=wanted, state="ready")
    for move in moves:
        if move == "claim" and item.state == "ready":
            item.leased += 1
        elif move == "submit" and item.leased:
            item.leased, item.done = item.leased - 1, item.done + 1
        elif move == "free" and item.leased:
            item.leased -= 1
        elif move == "retire":
            generation.state = "retired"
        else:
            continue
        settle(item)
        free = item.wanted - item.leased - item.done
        assert free >= 0
        assert item.wanted <= wanted
        expected = {
            "ready": free > 0 and generation.state == "open",
            "full": free == 0 and item.leased > 0,
            "done": item.leased == 0 and item.done == item.wanted,
            "retired": item.leased == 0 and item.done < item.wanted and generation.state == "retired",
        }
        assert expected[item.state], (item.state, item.wanted, item.leased, item.done)


@pytest.mark.django_db
class TestReplacing:
    @pytest.fixture
    def earlier(self):
        return GenerationFactory()

    def replace(self, earlier, *solutions, **fields):
        Generation.objects.filter(pk=earlier.pk).update(state="retired")
        later = GenerationFactory(project=earlier.project)
        selections = [Selection(solution_id=s.pk, **{"lane": "acquisition", **fields}) for s in solutions]
        replace_items(generation=later, selections=selections)
        return list(QueueItem.objects.filter(generation=later).order_by("pk"))

    def test_what_nobody_holds_is_retired_and_the_new_items_come_in_order(self, earlier, monkeypatch):
        monkeypatch.setattr(items, "BATCH", 2)
        idle = QueueItemFactory(generation=earlier)
        solutions = [SolutionFactory(project=earlier.project) for _ in range(3)]
        created = self.replace(earlier, *solutions, gain=0.4, inclusion_probability=0.1, wanted=2)
        idle.refresh_from_db()
        assert idle.state == "retired"
        assert [(i.solution, i.rank, i.wanted, i.split) for i in created] == [
            (solution, rank, 2, "pool") for rank, solution in enumerate(solutions)
        ]
        annotator = MembershipFactory(project=earlier.project)
        assert claim_next(by=annotator.user, project=earlier.project, holding=[]).lease.item == created[0]

    def test_work_in_hand_finishes_but_offers_no_further_place(self, earlier):
        item = QueueItemFactory(generation=earlier, wanted=3)
        annotator = MembershipFactory(project=earlier.project)
        lease = claim_next(by=annotator.user, project=earlier.project, holding=[]).lease
        self.replace(earlier)
        item.refresh_from_db()
        assert (item.state, item.wanted, item.leased) == ("full", 1, 1)
        other = MembershipFactory(project=earlier.project)
        assert claim_next(by=other.user, project=earlier.project, holding=[]).reason == "done"
        release(by=annotator.user, lease_id=lease.pk, reason="")
        item.refresh_from_db()
        assert item.state == "retired"

    def test_items_that_are_done_stay_done(self, earlier):
        item = QueueItemFactory(generation=earlier, done=1, state="done")
        self.replace(earlier)
        item.refresh_from_db()
        assert item.state == "done"

    @pytest.mark.parametrize(("leased", "done"), [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)])
    def test_an_item_closes_as_it_does_by_itself(self, earlier, leased, done):
        state = "ready" if leased + done < 2 else "done" if done == 2 else "full"
        item = QueueItemFactory(generation=earlier, wanted=2, leased=leased, done=done, state=state)
        self.replace(earlier)
        alone = QueueItem(generation=Generation(state="retired"), wanted=2, leased=leased, done=done, state=item.state)
        settle(alone)
        item.refresh_from_db()
        assert (item.state, item.wanted) == (alone.state, alone.wanted)

    def test_submissions_wait_only_while_the_earlier_items_close(self, earlier):
        """Not while thousands of new items are made; and the database closes the earlier ones, however many."""
        QueueItemFactory.create_batch(5, generation=earlier)
        with CaptureQueriesContext(connection) as asked:
            self.replace(earlier, SolutionFactory(project=earlier.project))
        statements = [query["sql"] for query in asked]
        [made] = [place for place, one in enumerate(statements) if one.startswith('INSERT INTO "annotation_queueitem"')]
        [checked] = [place for place, one in enumerate(statements) if one == "SET CONSTRAINTS ALL IMMEDIATE"]
        locked, *changed = [
            place
            for place, one in enumerate(statements)
            if "NO KEY UPDATE" in one or one.startswith('UPDATE "annotation_queueitem')
        ]
        assert made < checked < locked
        assert len(changed) == 3

    def test_solutions_are_the_projects_own(self, earlier):
        with pytest.raises(DomainError) as refused:
            self.replace(earlier, SolutionFactory())
        assert refused.value.code == "unknown_solution"
