"""Batches of labels: suspected by the watch, set aside and taken back by a manager, left out of what learns."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.labels.annotators import batches
from annotation.labels.annotators.batch_watch import watch
from annotation.labels.annotators.judged_labels import judge_by_overlap, latest_labels
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.loop.pool.partitions import create_partition
from annotation.loop.schedule import automatic
from annotation.loop.selection.candidates import candidates_of
from annotation.models import AuditEntry, LabelBatch, Lease, Membership, ModelVersion, PoolScore, StepRating
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    LabelSourceFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProjectFactory,
    QueueItemFactory,
    SnapshotFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db
State = LabelBatch.State
ODD = [0, 2, 2, 0, 2, 0, 0, 2, 2, 0, 0, 2, 0, 2, 2]  # without a pattern (Thue and Morse)


@pytest.fixture
def project():
    """All checks together give one false alarm in this many labels, so each of them one in a hundred."""
    return ProjectFactory(policy={"quality": {"labels_between_false_alarms": 17}})


@pytest.fixture
def manager(project):
    return MembershipFactory(project=project, role="manager").user


@pytest.fixture
def people(project):
    return [MembershipFactory(project=project) for _ in range(3)]


def label(solution, member, first_error, **named):
    reason = "solution" if first_error < 0 else "found_error"
    return AnnotationFactory(
        solution=solution, annotator=member, first_error=first_error, finish_reason=reason, **named
    )


def shared_labels(project, people, number, *, odd=None):
    """Solutions whose first error all three name; the `odd` one names another step."""
    for solution in (SolutionFactory(project=project) for _ in range(number)):
        for member in people:
            label(solution, member, 2 if member is odd else 1)


def timed(project, member, number, ms, *, steps=None):
    """Labels of five steps each that took so long, or of these `steps`."""
    for _ in range(number):
        rated(SolutionFactory(project=project, steps=steps or [f"Step {n}" for n in range(5)]), member, total_ms=ms)


def rated(solution, member, **named):
    """A label that rates every step good."""
    made = label(solution, member, -1, **named)
    for step in solution.steps.all():
        StepRating.objects.create(annotation=made, step=step, state="rated", rating=1)


class TestWatch:
    def test_who_differs_from_all_others_is_suspected_with_the_evidence(self, project, people):
        shared_labels(project, people, 20)
        shared_labels(project, people, 12, odd=people[2])
        [batch] = watch(project)
        assert (batch.annotator, batch.state, batch.judge) == (people[2], State.SUSPECTED, "overlap")
        assert batch.evidence["differed"] == 12
        assert AuditEntry.objects.get(action="labels.suspect").target_id == str(batch.pk)
        assert batches.labels_of_batch(batch).filter(first_error=2).count() == 12

    def test_batches_of_people_and_sources_are_counted_at_once(self, project, people, django_assert_num_queries):
        source = LabelSourceFactory(project=project, kind="human", name="agency")
        shared_labels(project, people, 12, odd=people[2])
        label(SolutionFactory(project=project), None, 2, source=source)
        times = {"since": project.created_at, "until": timezone.now()}
        owners = {"annotator": people[1]}, {"source": source}, {"annotator": MembershipFactory(project=project)}
        made = [LabelBatch.objects.create(project=project, **times, **owner) for owner in owners]
        with django_assert_num_queries(1):
            counts = batches.count_labels(made)
        assert [counts[batch.pk] for batch in made] == [batches.labels_of_batch(batch).count() for batch in made]
        assert [counts[batch.pk] for batch in made] == [12, 1, 0]

    def test_people_who_agree_are_left_in_peace(self, project, people):
        shared_labels(project, people, 30)
        assert watch(project) == []

    def test_a_suspicion_is_written_down_once_and_grows(self, project, people):
        shared_labels(project, people, 12, odd=people[2])
        [batch] = watch(project)
        shared_labels(project, people, 5, odd=people[2])
        assert watch(project) == []
        known = LabelBatch.objects.get()
        assert known.until > batch.until
        assert known.evidence["judged"] == 17

    def test_a_source_of_imported_labels_is_watched_too(self, project, people):
        source = LabelSourceFactory(project=project, kind="human", name="agency")
        for solution in (SolutionFactory(project=project) for _ in range(12)):
            label(solution, people[0], 1)
            label(solution, people[1], 1)
            label(solution, None, 2, source=source)
        [batch] = watch(project)
        assert (batch.source, batch.annotator) == (source, None)
        batches.set_aside(by=None, batch=batch)
        assert set(batches.in_use(project.annotations.all()).values_list("source__name", flat=True)) == {""}

    def test_machines_are_judged_and_judge_nobody(self, project, people):
        judge = LabelSourceFactory(project=project, kind="model_judge", name="judge")
        solution = SolutionFactory(project=project)
        label(solution, people[0], 1)
        label(solution, None, 2, source=judge)
        assert [one.who for one in judge_by_overlap(latest_labels(project))] == [f"source {judge.pk}"]

    @pytest.mark.slow
    def test_who_is_too_fast_to_have_read_is_suspected(self, project, people):
        """19 labels at two seconds each, 390 ms a step, raised nothing."""
        for member, ms in zip(people, (15_000, 20_000, 1_950), strict=True):
            timed(project, member, 19, ms)
        [batch] = watch(project)
        assert (batch.annotator, batch.state, batch.judge) == (people[2], State.SUSPECTED, "reading")
        figures = {"judged": 19, "differed": 19, "expected": 1.0, "label_ms": 1950, "characters": 30}
        assert batch.evidence.items() >= figures.items()
        assert batches.labels_of_batch(batch).count() == 19
        assert watch(project) == []
        batches.resume(by=MembershipFactory(project=project, role="manager").user, batch=batch)
        assert watch(project) == [], "somebody looked at them"

    def test_two_seconds_after_careful_work_are_suspected(self, project, people):
        """The median of the latest 40 labels hid 19 labels at two seconds each."""
        timed(project, people[0], 25, 15_000)
        timed(project, people[0], 19, 2_000)
        [batch] = watch(project)
        assert (batch.annotator, batch.judge, batch.evidence["differed"]) == (people[0], "reading", 19)

    def test_two_seconds_for_few_long_steps_are_suspected(self, project, people):
        """Two seconds for three steps of 700 characters each were slow enough a step."""
        timed(project, people[0], 19, 2_000, steps=["word " * 140] * 3)
        [batch] = watch(project)
        assert (batch.judge, batch.evidence["label_ms"], batch.evidence["characters"]) == ("reading", 2000, 2100)

    def test_labels_sent_without_a_time_are_timed_by_their_submissions(self, project, people):
        """A program that sent no times raised nothing, however fast it was."""
        now, generation = timezone.now(), GenerationFactory(project=project)
        for number in range(19):
            solution = SolutionFactory(project=project, steps=["word " * 140] * 3)
            item = QueueItemFactory(solution=solution, generation=generation)
            lease = Lease.objects.create(
                item=item, solution=solution, annotator=people[0], claimed_at=now, expires_at=now
            )
            rated(solution, people[0], lease=lease, submitted_at=now + timedelta(seconds=2 * number))
        [batch] = watch(project)
        assert (batch.judge, batch.evidence["label_ms"]) == ("reading", 2000)

    @pytest.mark.slow
    def test_nobody_who_takes_their_time_is_named_and_no_program(self, project, people):
        for member, ms in zip(people, (9_000, 20_000, 40_000), strict=True):
            timed(project, member, 20, ms)
        timed(project, MembershipFactory(project=project, kind="simulated"), 20, 50)
        assert watch(project) == []

    def test_an_adjudication_decides_alone(self, project, people):
        solution = SolutionFactory(project=project)
        label(solution, people[0], 1)
        label(solution, people[1], 1)
        label(solution, people[2], 2, adjudicates=True)
        assert [(one.who, one.differs) for one in judge_by_overlap(latest_labels(project))] == [
            (f"annotator {people[0].pk}", True),
            (f"annotator {people[1].pk}", True),
        ]

    def test_the_model_judges_labels_that_nobody_shares(self, project, people):
        champion_scores(project, people, odd=people[2])
        [batch] = watch(project)
        assert (batch.annotator, batch.judge) == (people[2], "model")

    def test_the_model_does_not_judge_what_it_learned_from(self, project, people):
        champion_scores(project, people, odd=people[2])
        champion = ModelVersion.objects.get()
        champion.snapshot = SnapshotFactory(project=project)  # frozen after the labels
        champion.save()
        assert watch(project) == []

    def test_only_what_people_name_is_set_aside_unasked(self, project, people):
        project.policy["quality"]["set_aside"] = True
        project.save()
        champion_scores(project, people, odd=people[2])
        shared_labels(project, people, 12, odd=people[1])
        found = {batch.judge: batch.state for batch in watch(project)}
        assert found == {"overlap": State.SET_ASIDE, "model": State.SUSPECTED}


def champion_scores(project, people, *, odd):
    """A champion that finds the error where all but one do, each on solutions of their own."""
    champion = ModelVersionFactory(
        project=project,
        state="champion",
        manifest={"threshold": {"value": 0.5}},
        snapshot=SnapshotFactory(project=project),
    )
    create_partition(champion)
    for member in people:
        for number in range(15):
            solution = SolutionFactory(project=project)
            PoolScore.objects.create(model_version=champion, solution=solution, mean=[0.9, 0.1, 0.9], spread=[0, 0, 0])
            label(solution, member, ODD[number] if member is odd else 1)


class TestDecision:
    @pytest.fixture
    def batch(self, project, people):
        shared_labels(project, people, 12, odd=people[2])
        [batch] = watch(project)
        return batch

    def test_set_aside_and_resumed_with_an_audit_row_each(self, batch, manager):
        batches.set_aside(by=manager, batch=batch, reason="a script")
        assert LabelBatch.objects.get().state == State.SET_ASIDE
        with pytest.raises(Conflict, match="already has this decision"):
            batches.set_aside(by=manager, batch=batch)
        batches.resume(by=manager, batch=batch, reason="it was the guideline")
        rows = AuditEntry.objects.filter(action__in=["labels.set_aside", "labels.resume"]).order_by("pk")
        assert [(row.before["state"], row.after["state"], row.by) for row in rows] == [
            (State.SUSPECTED, State.SET_ASIDE, manager),
            (State.SET_ASIDE, State.IN_USE, manager),
        ]

    def test_a_manager_decides(self, batch, people):
        with pytest.raises(Forbidden):
            batches.set_aside(by=people[0].user, batch=batch)
        assert Membership.objects.get(pk=people[0].pk).role == "annotator"

    def test_labels_stay_and_are_left_out_of_what_learns_and_measures(self, project, batch, manager):
        everything = create_snapshot(by=None, project=project, filters={})
        labels = project.annotations.count()
        batches.set_aside(by=manager, batch=batch)
        assert project.annotations.count() == labels
        without = create_snapshot(by=None, project=project, filters={})
        told = [one.first_error for record in read_snapshot(without) for one in record.annotations]
        assert set(told) == {1}
        included = create_snapshot(by=None, project=project, filters={"set_aside": "included"})
        assert included.sha256 == everything.sha256
        batches.resume(by=manager, batch=batch)
        assert create_snapshot(by=None, project=project, filters={}) == everything

    def test_a_solution_whose_labels_are_set_aside_may_be_asked_for_again(self, project, people, manager):
        solution = SolutionFactory(project=project)
        label(solution, people[0], 1)
        label(solution, people[1], 1)
        assert len(candidates_of(project)) == 0
        batches.set_aside_by_hand(
            by=manager,
            project=project,
            annotator=people[0],
            since=timezone.now() - timedelta(hours=1),
            until=timezone.now(),
            reason="away",
        )
        asked = candidates_of(project)
        assert (list(asked.ids), list(asked.labels)) == ([solution.pk], [1])

    def test_by_hand_only_what_is_there_and_of_this_project(self, project, people, manager):
        now = timezone.now()
        named = {"by": manager, "project": project, "since": now - timedelta(hours=1), "until": now, "reason": ""}
        with pytest.raises(DomainError, match="No label was made"):
            batches.set_aside_by_hand(annotator=people[0], **named)
        with pytest.raises(DomainError, match="one annotator or one source"):
            batches.set_aside_by_hand(annotator=MembershipFactory(), **named)

    def test_what_was_cleared_is_not_suspected_again(self, project, batch, manager):
        batches.resume(by=manager, batch=batch)
        assert watch(project) == []


def test_rounds_wait_for_a_decision_where_the_policy_says_so(project, people, manager, monkeypatch):
    started = []
    monkeypatch.setattr(automatic, "request_run", lambda **named: started.append(named))
    project.policy["rounds"] = {"after_labels": 1}
    project.policy["quality"]["hold_rounds"] = True
    project.save()
    shared_labels(project, people, 12, odd=people[2])
    assert automatic.start_due_runs() == 0
    batches.set_aside(by=manager, batch=LabelBatch.objects.get())
    assert automatic.start_due_runs() == 1
    assert len(started) == 1
