"""Rounds that begin by themselves: why, when, and what holds them back."""

from datetime import UTC, datetime, timedelta

import pytest

from annotation.labels.agreement.cube import AgreementCell
from annotation.loop.rounds import limits, runs
from annotation.loop.schedule import automatic, drift
from annotation.models import Membership, RoundClock, RunStage, TrainingRun
from tests.factories import AnnotationFactory, MembershipFactory, SolutionFactory

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    monkeypatch.setattr(runs, "check_labels", lambda project: None)


@pytest.fixture
def project():
    return MembershipFactory(role=Membership.Role.MANAGER).project


def rounds_of(project, **rounds):
    project.policy |= {"rounds": rounds}
    project.save()


def label(project, at, n=1):
    for _ in range(n):
        AnnotationFactory(project=project, solution=SolutionFactory(project=project), submitted_at=at)


def end(project, at):
    """The run in progress ended, having begun at this time."""
    live = project.training_runs.filter(state__in=TrainingRun.LIVE)
    live.update(state=TrainingRun.State.DONE, created_at=at)


def latest(project):
    return project.training_runs.order_by("-number").first()


def test_nothing_begins_unless_the_policy_says_so(project):
    label(project, MONDAY, 5)
    assert automatic.start_due_runs(MONDAY) == 0
    assert automatic.outlook(project, MONDAY) is None


class TestLabels:
    def test_enough_new_ones_begin_a_round_once(self, project):
        rounds_of(project, after_labels=3)
        label(project, MONDAY, 2)
        assert automatic.start_due_runs(MONDAY) == 0
        label(project, MONDAY, 1)
        assert automatic.start_due_runs(MONDAY) == 1
        run = latest(project)
        assert (run.trigger, run.requested_by) == ("labels", None)
        assert run.reason == "3 new labels since the last run; the policy retrains after 3."
        assert automatic.start_due_runs(MONDAY) == 0  # it is in progress
        end(project, MONDAY)
        assert automatic.start_due_runs(MONDAY) == 0  # they are new only once

    def test_a_paused_project_rests(self, project):
        rounds_of(project, after_labels=1)
        label(project, MONDAY, 2)
        project.state = "paused"
        project.save()
        assert automatic.start_due_runs(MONDAY) == 0


class TestSchedule:
    @pytest.fixture(autouse=True)
    def _daily(self, project):
        rounds_of(project, cron="0 3 * * *", time_zone="Europe/Zurich")
        assert automatic.start_due_runs(MONDAY) == 0  # the first look only sets the clock

    def test_times_that_nobody_looked_at_begin_one_round(self, project):
        label(project, MONDAY + timedelta(hours=1))
        late = MONDAY + timedelta(days=4)
        assert automatic.start_due_runs(late) == 1
        assert latest(project).trigger == "schedule"
        assert "Scheduled by 0 3 * * * for 2026-06-02 03:00 (Europe/Zurich). 1 new label" in latest(project).reason
        end(project, late)
        assert automatic.start_due_runs(late + timedelta(minutes=1)) == 0

    def test_a_time_with_nothing_new_passes_by(self, project):
        assert automatic.start_due_runs(MONDAY + timedelta(days=1)) == 0
        label(project, MONDAY + timedelta(days=1, minutes=1))
        assert automatic.start_due_runs(MONDAY + timedelta(days=1, minutes=2)) == 0
        assert automatic.start_due_runs(MONDAY + timedelta(days=2)) == 1

    def test_a_schedule_changed_just_now_does_not_begin_a_round_for_its_past(self, project):
        label(project, MONDAY)
        assert automatic.start_due_runs(MONDAY + timedelta(minutes=1)) == 0
        rounds_of(project, cron="0 11 * * *")
        assert automatic.start_due_runs(MONDAY + timedelta(minutes=2)) == 0

    def test_a_time_held_back_by_quiet_hours_comes_after_them(self, project):
        rounds_of(project, cron="0 3 * * *", quiet_hours=["00:00-07:00"])
        label(project, MONDAY)
        night = MONDAY.replace(day=2, hour=3, minute=1)
        assert automatic.start_due_runs(night) == 0
        told = automatic.outlook(project, night)
        assert told.not_before == night.replace(hour=7, minute=0)
        assert [hold.code for hold in told.holds] == ["quiet_hours"]
        assert automatic.start_due_runs(night.replace(hour=6, minute=59)) == 0
        assert automatic.start_due_runs(night.replace(hour=7, minute=0)) == 1
        end(project, night.replace(hour=7, minute=0))
        assert automatic.start_due_runs(night.replace(hour=7, minute=1)) == 0

    def test_the_outlook_names_the_next_time_that_is_not_quiet(self, project):
        rounds_of(project, cron="0 3 * * *", quiet_hours=["mon-wed 00:00-04:30"])
        assert automatic.outlook(project, MONDAY).not_before == datetime(2026, 6, 2, 4, 30, tzinfo=UTC)


class TestDrift:
    def test_begins_a_round_with_its_figure_once(self, project, monkeypatch):
        rounds_of(project, drift_above=0.2)
        monkeypatch.setattr(drift, "measure", lambda project: drift.Drift(0.31, "imports", 240))
        assert automatic.start_due_runs() == 1
        run = latest(project)
        assert run.trigger == "drift"
        assert "newly imported solutions drifted: population stability index 0.31 over 240" in run.reason
        project.training_runs.update(state=TrainingRun.State.DONE)
        assert automatic.start_due_runs() == 0

    @pytest.mark.parametrize("found", [None, drift.Drift(0.1, "served", 240)])
    def test_leaves_scores_alone_that_stay(self, project, monkeypatch, found):
        rounds_of(project, drift_above=0.2)
        monkeypatch.setattr(drift, "measure", lambda project: found)
        assert automatic.start_due_runs() == 0


class TestBudget:
    def test_runs_a_day(self, project):
        rounds_of(project, after_labels=1, runs_per_day=1, time_zone="Europe/Zurich")
        label(project, MONDAY)
        assert automatic.start_due_runs(MONDAY) == 1
        end(project, MONDAY)
        label(project, MONDAY + timedelta(minutes=1))
        assert automatic.start_due_runs(MONDAY + timedelta(hours=1)) == 0
        told = automatic.outlook(project, MONDAY + timedelta(hours=1))
        assert told.holds[0].sentence == "1 run started today; the limit is 1."
        assert told.not_before == datetime(2026, 6, 1, 22, tzinfo=UTC)  # midnight in Zurich
        assert automatic.start_due_runs(told.not_before) == 1

    def test_hours_of_training_a_month(self, project):
        rounds_of(project, after_labels=1, training_hours_per_month=2)
        label(project, MONDAY)
        assert automatic.start_due_runs(MONDAY) == 1
        latest(project).stages.filter(name=RunStage.Name.TRAIN).update(seconds=7300, started_at=MONDAY)
        end(project, MONDAY)
        label(project, MONDAY + timedelta(minutes=1))
        assert automatic.start_due_runs(MONDAY + timedelta(days=20)) == 0
        told = automatic.outlook(project, MONDAY + timedelta(days=20))
        assert told.holds[0].sentence == "Training ran for 2.0 hours this month; the limit is 2."
        assert told.not_before == datetime(2026, 7, 1, tzinfo=UTC)
        assert automatic.start_due_runs(told.not_before) == 1


def test_disagreement_holds_rounds_back_until_it_is_settled(project, monkeypatch):
    rounds_of(project, after_labels=1, agreement_floor=0.8)
    label(project, MONDAY)
    said = [AgreementCell("", "", 0.6, None, None, solutions=30, pairs=30)]
    monkeypatch.setattr(limits, "agreement_of", lambda project, resamples: said[0])
    assert automatic.start_due_runs(MONDAY) == 0
    told = automatic.outlook(project, MONDAY)
    assert told.not_before is None
    assert "the first error in 60\xa0% of pairs, below the floor of 80\xa0%" in told.holds[0].sentence
    said[0] = AgreementCell("", "", 0.6, None, None, solutions=10, pairs=10)  # too few to tell
    assert automatic.start_due_runs(MONDAY) == 1


def test_a_person_may_begin_a_round_in_quiet_hours_and_the_run_says_so(project):
    rounds_of(project, quiet_hours=["00:00-24:00"])
    manager = project.memberships.get(user__isnull=False).user
    run = runs.request_run(by=manager, project=project)
    assert run.reason.startswith(f"Requested by {manager.username}. The quiet hours never end")


def test_the_clock_is_a_row_a_project(project):
    rounds_of(project, cron="0 3 * * *")
    automatic.start_due_runs(MONDAY)
    automatic.start_due_runs(MONDAY + timedelta(minutes=1))
    assert RoundClock.objects.get().looked_at == MONDAY + timedelta(minutes=1)
