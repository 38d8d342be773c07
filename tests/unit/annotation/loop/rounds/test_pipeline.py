"""The order of the stages, the lock, failures, cancelling and the sweep, with stages that do nothing."""

import errno
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.core import tickets
from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.lifecycle import MAX_ATTEMPTS, Cancelled, cancel_job, sweep_jobs
from annotation.core.locks import advisory_lock
from annotation.core.stages import Outcome, Stage
from annotation.loop import registry
from annotation.loop.rounds import pipeline, runs
from annotation.models import AuditEntry, Membership, RunStage, TrainingRun
from tests.factories import MembershipFactory, ModelVersionFactory

pytestmark = pytest.mark.django_db(transaction=True)
StageState, Run = RunStage.State, TrainingRun.State


@pytest.fixture
def sent(monkeypatch):
    """The tasks that were enqueued: (name, run, stage, queue)."""
    tasks = []
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: tasks.append((task, *args, queue)))
    return tasks


@pytest.fixture
def performed(monkeypatch):
    """The stages that were performed; `behaviour[name]` replaces what a stage does."""
    names, behaviour = [], {}

    def perform(work):
        names.append(work.stage.name)
        return behaviour.get(work.stage.name, lambda work: Outcome(f"{work.stage.name} done"))(work)

    stages = {name: Stage(kind.queue, perform, kind.optional) for name, kind in pipeline.STAGES.items()}
    monkeypatch.setattr(pipeline, "STAGES", stages)
    return names, behaviour


@pytest.fixture
def manager():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def run(manager, sent, monkeypatch):
    monkeypatch.setattr(runs, "check_labels", lambda project: None)
    return runs.request_run(by=manager.user, project=manager.project)


def state(run):
    run.refresh_from_db()
    return run.state


def test_each_task_does_one_stage_and_asks_for_the_next_on_its_queue(run, performed, sent):
    names, _ = performed
    while sent:
        _, run_id, stage, _ = sent[-1]
        before = len(sent)
        pipeline.advance(run_id, stage)
        if len(sent) == before:
            break
    assert names == ["snapshot", "train", "evaluate", "gate", "promote", "score", "select", "shadow"]
    assert [queue for *_, queue in sent] == ["default", "gpu", "score", "default", "default", "score", "default", "gpu"]
    assert state(run) == Run.DONE
    assert all(stage.figure == f"{stage.name} done" for stage in run.stages.all())
    assert AuditEntry.objects.filter(action="run.done", target_id=str(run.pk)).count() == 1


def test_calling_off_what_a_round_can_do_without_leaves_it_a_success(run, performed, manager):
    names, behaviour = performed

    def called_off(work):
        TrainingRun.objects.filter(pk=run.pk).update(cancel_requested=True)
        raise Cancelled

    behaviour["shadow"] = called_off
    assert pipeline.run_through(run).state == Run.DONE
    assert run.stages.get(name="shadow").state == StageState.CANCELLED
    assert names[-2:] == ["select", "shadow"]
    assert not AuditEntry.objects.filter(action="run.cancelled").exists()


def test_a_second_message_for_a_stage_does_nothing(run, performed, sent):
    names, _ = performed
    pipeline.advance(run.pk, "snapshot")
    pipeline.advance(run.pk, "snapshot")
    assert names == ["snapshot"]
    assert len(sent) == 2


def test_nobody_works_on_a_project_whose_lock_is_held(run, performed, sent):
    names, _ = performed
    with advisory_lock(TrainingRun._meta.label, run.pk) as alone:
        assert alone
        pipeline.advance(run.pk, "snapshot")
        with advisory_lock(TrainingRun._meta.label, run.pk) as second:
            assert not second
    assert names == []
    pipeline.advance(run.pk, "snapshot")
    assert names == ["snapshot"]


def test_the_lock_is_free_the_moment_it_is_given_back(run):
    for _ in range(200):
        with advisory_lock(TrainingRun._meta.label, run.pk) as alone:
            assert alone


def test_one_live_run_a_project(run, manager):
    with pytest.raises(Conflict, match="Run 1 is in progress"):
        runs.request_run(by=manager.user, project=manager.project)
    assert TrainingRun.objects.count() == 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DomainError("the disk is full.", code="x"), "the disk is full."),
        (ZeroDivisionError("by zero"), "ZeroDivisionError"),
    ],
)
def test_a_failed_stage_ends_the_run_with_its_reason(run, performed, error, said):
    names, behaviour = performed

    def fail(work):
        raise error

    behaviour["train"] = fail
    pipeline.run_through(run)
    assert state(run) == Run.FAILED
    assert said in run.error
    assert "“train” failed" in run.error
    assert run.stages.get(name="train").state == StageState.FAILED
    assert run.stages.get(name="evaluate").state == StageState.WAITING
    assert names == ["snapshot", "train"]


def test_after_a_failure_another_run_may_begin(run, performed, manager):
    _, behaviour = performed
    behaviour["snapshot"] = lambda work: 1 / 0
    pipeline.run_through(run)
    assert runs.request_run(by=manager.user, project=manager.project).number == 2


@pytest.mark.parametrize("error", [DomainError("the disk is full.", code="x"), ZeroDivisionError("by zero")])
def test_a_stage_that_the_round_can_do_without_fails_alone(run, performed, error):
    _, behaviour = performed

    def fail(work):
        raise error

    behaviour["shadow"] = fail
    pipeline.run_through(run)
    assert (state(run), run.error) == (Run.DONE, "")
    stage = run.stages.get(name="shadow")
    assert stage.state == StageState.SKIPPED
    assert str(error) in stage.figure
    assert str(error) in run.points.get(stage="shadow").message


def test_a_stage_that_the_round_can_do_without_may_lose_its_workers(run, performed):
    run.stages.exclude(name="shadow").update(state=StageState.DONE)
    TrainingRun.objects.filter(pk=run.pk).update(attempts=MAX_ATTEMPTS)
    pipeline.run_through(run)
    assert (state(run), performed[0]) == (Run.DONE, [])
    assert "the worker died 3 times" in run.stages.get(name="shadow").figure


def test_cancelling_a_waiting_run_ends_it_at_once(run, performed, manager):
    assert cancel_job(by=manager.user, job=run).state == Run.CANCELLED
    pipeline.advance(run.pk, "snapshot")
    assert performed[0] == []
    assert {stage.state for stage in run.stages.all()} == {StageState.CANCELLED}
    with pytest.raises(Conflict, match="has already ended"):
        cancel_job(by=manager.user, job=run)


def test_cancelling_a_working_run_stops_it_at_its_next_beat(run, performed, manager):
    _, behaviour = performed

    def work_long(work):
        cancel_job(by=manager.user, job=run)
        assert state(run) == Run.RUNNING
        work.beat()
        pytest.fail("the beat did not stop the stage")

    behaviour["snapshot"] = work_long
    pipeline.run_through(run)
    assert state(run) == Run.CANCELLED


def test_only_managers_begin_and_cancel(run):
    annotator = MembershipFactory(project=run.project)
    with pytest.raises(Forbidden):
        runs.request_run(by=annotator.user, project=run.project)
    with pytest.raises(Forbidden):
        cancel_job(by=annotator.user, job=run)


class TestRetry:
    @pytest.fixture
    def failed(self, run, performed):
        _, behaviour = performed
        behaviour["gate"] = lambda work: 1 / 0
        assert pipeline.run_through(run).state == Run.FAILED
        behaviour.clear()
        return run

    def test_goes_on_from_the_stage_that_failed(self, failed, performed, manager, sent):
        names, _ = performed
        names.clear()
        sent.clear()
        again = runs.resume_run(by=manager.user, job=failed)
        assert (again.state, again.error, again.failure, again.retries) == (Run.QUEUED, "", "", 1)
        assert sent == [("rounds.advance", failed.pk, "gate", "default")]
        assert pipeline.run_through(again).state == Run.DONE
        assert names == ["gate", "promote", "score", "select", "shadow"]
        assert again.stages.get(name="gate").attempts == 2
        said = AuditEntry.objects.get(action="run.resume")
        assert (said.by, said.before["state"], said.after["stage"]) == (manager.user, "failed", "gate")

    def test_takes_up_a_cancelled_run(self, run, performed, manager):
        cancel_job(by=manager.user, job=run)
        again = runs.resume_run(by=manager.user, job=run)
        assert pipeline.run_through(again).state == Run.DONE

    def test_a_worker_that_died_thrice_gets_three_more_chances(self, run, performed, manager):
        TrainingRun.objects.filter(pk=run.pk).update(attempts=MAX_ATTEMPTS)
        assert pipeline.run_through(run).failure == "worker_died"
        assert pipeline.run_through(runs.resume_run(by=manager.user, job=run)).state == Run.DONE

    def test_only_the_latest_run_that_did_not_end_well(self, failed, performed, manager):
        newer = runs.request_run(by=manager.user, project=failed.project)
        with pytest.raises(Conflict) as conflict:
            runs.resume_run(by=manager.user, job=failed)
        assert conflict.value.code == "not_latest"
        with pytest.raises(Conflict, match="in progress"):
            runs.resume_run(by=manager.user, job=newer)
        pipeline.run_through(newer)
        with pytest.raises(Conflict, match="succeeded"):
            runs.resume_run(by=manager.user, job=newer)

    def test_a_managers_matter(self, failed):
        with pytest.raises(Forbidden):
            runs.resume_run(by=MembershipFactory(project=failed.project).user, job=failed)


@pytest.mark.parametrize("name", [name for name, kind in pipeline.STAGES.items() if not kind.optional])
def test_whatever_stage_fails_the_champion_serves_on_and_the_run_says_what_to_do(name, run, performed):
    champion = ModelVersionFactory(project=run.project, number=1, state="champion")
    _, behaviour = performed

    def fail(work):
        raise OSError(errno.ENOSPC, "No space left on device")

    behaviour[name] = fail
    assert pipeline.run_through(run).state == Run.FAILED
    assert registry.champion_of(run.project) == champion
    assert run.failure == "disk_full"
    assert "The champion keeps serving. Free space" in run.error


class TestSweep:
    @pytest.fixture
    def dead(self, run, performed, sent):
        """A run whose worker died in the middle of training, a minute ago."""
        pipeline.advance(run.pk, "snapshot")
        run.stages.filter(name="train").update(state=StageState.RUNNING, attempts=1)
        tickets.take(TrainingRun, run.pk, "train")
        TrainingRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
        sent.clear()
        return run

    def test_asks_again_for_the_stage_of_a_dead_worker(self, dead, performed, sent):
        assert sweep_jobs() == 1
        assert sent == [("rounds.advance", dead.pk, "train", "gpu")]
        assert sweep_jobs() == 0
        pipeline.advance(dead.pk, "train")
        assert dead.stages.get(name="train").attempts == 2
        assert performed[0] == ["snapshot", "train"]

    def test_leaves_a_slow_worker_alone(self, dead, sent):
        with advisory_lock(TrainingRun._meta.label, dead.pk):
            assert sweep_jobs() == 0
        assert sent == []

    def test_leaves_a_fresh_run_alone(self, run, sent):
        sent.clear()
        assert sweep_jobs() == 0
        assert sent == []

    def test_asks_again_for_a_run_whose_first_message_was_lost(self, run, sent):
        TrainingRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(minutes=1))
        sent.clear()
        cache.clear()  # Redis lost what it had
        assert sweep_jobs() == 1
        assert sent == [("rounds.advance", run.pk, "snapshot", "default")]

    def test_asks_once_for_a_stage_that_waits_in_a_busy_queue(self, dead, sent):
        for _ in range(3):
            sweep_jobs()
            TrainingRun.objects.filter(pk=dead.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
        assert sent == [("rounds.advance", dead.pk, "train", "gpu")]

    def test_gives_up_after_three_dead_workers(self, dead, performed):
        TrainingRun.objects.filter(pk=dead.pk).update(attempts=MAX_ATTEMPTS)
        assert sweep_jobs() == 1
        pipeline.advance(dead.pk, "train")
        assert state(dead) == Run.FAILED
        assert "died 3 times" in dead.error
        assert (performed[0], sweep_jobs()) == (["snapshot"], 0)

    def test_ends_a_dead_run_that_was_cancelled(self, dead, performed):
        TrainingRun.objects.filter(pk=dead.pk).update(cancel_requested=True)
        sweep_jobs()
        pipeline.advance(dead.pk, "train")
        assert (state(dead), performed[0]) == (Run.CANCELLED, ["snapshot"])

    def test_cancels_a_run_whose_worker_died_at_once(self, dead, manager):
        assert cancel_job(by=manager.user, job=dead).state == Run.CANCELLED
