"""How a job lives, of whatever kind: one worker at a time, cancelled, gone on with, given up, each with its word."""

from datetime import timedelta

import psycopg
import pytest
from django.db import DataError, OperationalError, connection, transaction
from django.utils import timezone

from annotation.core import lifecycle
from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.lifecycle import (
    MAX_ATTEMPTS,
    cancel_job,
    raise_if_cancelled,
    resume_job,
    run_job,
    save_progress,
    sweep_jobs,
)
from annotation.core.locks import advisory_lock
from annotation.models import (
    AnswerCheck,
    AuditEntry,
    ConsensusFit,
    ContaminationCheck,
    ExportJob,
    ImportGroup,
    ImportJob,
    Job,
    JudgingRun,
    ModelJob,
    PoolScoring,
    SamplingRun,
    SimulationRun,
    TrainingRun,
)
from tests.factories import MembershipFactory, ModelVersionFactory, ProjectFactory, SnapshotFactory

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(hours=1)


class Killed(BaseException):
    """The worker's process is gone."""


def asked_for(model, project):
    fields = {
        ImportJob: {"filename": "f", "path": "/nowhere/f"},
        SamplingRun: {"endpoint": "e", "model": "m", "seed": 0},
        JudgingRun: {"method": "judge", "endpoint": "e", "model": "m", "currency": "EUR", "seed": 0},
        AnswerCheck: {},
        ConsensusFit: {"number": 1, "method": "reliability"},
        ContaminationCheck: {},
        ExportJob: {},
        SimulationRun: {"functions": [], "seeds": 1, "budget": 1},
        ModelJob: {"kind": "export"},
        TrainingRun: {"number": 1, "trigger": "manual", "seed": 0},
        PoolScoring: {},
    }[model]
    if model in (ContaminationCheck, SimulationRun):
        fields["snapshot"] = SnapshotFactory(project=project)
    if model in (ModelJob, PoolScoring):
        fields["model_version"] = ModelVersionFactory(project=project, number=1)
    job = model.objects.create(project=project, **fields)
    if model is TrainingRun:
        job.stages.create(name="snapshot", order=0)
    return job


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def manager(project):
    return MembershipFactory(project=project, role="manager").user


@pytest.fixture(params=Job.kinds().values(), ids=lambda model: model.__name__)
def job(request, project):
    return asked_for(request.param, project)


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr(lifecycle, "enqueue", lambda task, *args, queue: messages.append((task, *args, queue)))
    monkeypatch.setattr(lifecycle, "_parts", lambda job: [job.part])
    return messages


def run(job, perform=lambda job: None):
    run_job(type(job), job.pk, perform, part=job.part)
    job.refresh_from_db()
    return job


def seat(job):
    return [job.part] if job.part else []


def die(job):
    raise Killed


def dies(job):
    with pytest.raises(Killed):
        run_job(type(job), job.pk, die, part=job.part)
    job.refresh_from_db()
    assert job.state == "running"


def actions(job):
    told = AuditEntry.objects.filter(target_id=str(job.subject.pk), project=job.project)
    return [action.removeprefix(job.audit_name) for action in told.order_by("pk").values_list("action", flat=True)]


def test_it_is_done_once(job):
    done = []
    for _ in range(2):
        run(job, done.append)
    assert (len(done), job.state, actions(job)) == (1, "done", [".done"])
    assert job.started_at <= job.finished_at


@pytest.mark.slow
def test_whose_workers_die_without_getting_on_is_given_up(job, sent):
    for _ in range(MAX_ATTEMPTS):
        assert job.SHARED or sweep_jobs() == 0, "the seats of a shared one are always looked at"
        dies(job)
        type(job).objects.filter(pk=job.pk).update(heartbeat_at=LONG_AGO)
        assert sweep_jobs() == 1
    assert sent == [(job.TASK, job.pk, *seat(job), job.QUEUE)] * MAX_ATTEMPTS
    assert (run(job).state, job.error) == ("failed", "The job's worker died 3 times. Check the machine's memory.")
    assert actions(job) == [".failed"]
    assert sweep_jobs() == 0


def test_one_that_gets_on_is_taken_up_as_often_as_it_takes(job):
    def get_on_and_die(job):
        save_progress(job)
        raise Killed

    for _ in range(2 * MAX_ATTEMPTS):
        with pytest.raises(Killed):
            run_job(type(job), job.pk, get_on_and_die, part=job.part)
    assert run(job).state == "done"


def test_one_that_waits_is_cancelled_at_once(job, manager):
    assert cancel_job(by=manager, job=job).state == "cancelled"
    assert actions(job) == [".cancel", ".cancelled"]
    with pytest.raises(Conflict, match="already ended"):
        cancel_job(by=manager, job=job)
    assert run(job, die).state == "cancelled"


def test_one_under_way_ends_where_it_heeds(job, manager):
    def cancel_and_go_on(job):
        cancel_job(by=manager, job=job)
        raise_if_cancelled(job)
        raise AssertionError("it went on")

    assert run(job, cancel_and_go_on).state == "cancelled"


def test_one_whose_worker_is_gone_is_cancelled_at_once(job, manager, sent):
    dies(job)
    assert cancel_job(by=manager, job=job).state == "cancelled"
    assert sent == []
    assert run(job, die).state == "cancelled"


def test_only_a_manager_cancels_and_resumes(job, project):
    reviewer = MembershipFactory(project=project, role="reviewer").user
    for service in (cancel_job, resume_job):
        with pytest.raises(Forbidden):
            service(by=reviewer, job=job)


def test_one_that_is_over_goes_on_with_new_attempts(job, manager, sent):
    with pytest.raises(Conflict, match="still running"):
        resume_job(by=manager, job=job)
    dies(job)
    cancel_job(by=manager, job=job)
    run(job)
    resumed = resume_job(by=manager, job=job)
    assert (resumed.state, resumed.attempts, resumed.error, resumed.cancel_requested) == ("queued", 0, "", False)
    assert run(job).state == "done"
    with pytest.raises(Conflict, match="already ended"):
        resume_job(by=manager, job=job)
    assert actions(job) == [".cancel", ".cancelled", ".resume", ".done"]


@pytest.mark.parametrize(
    ("error", "said"), [(DomainError("It is empty.", code="no"), "It is empty."), (KeyError("x"), "KeyError: 'x'")]
)
def test_what_goes_wrong_is_its_word(job, error, said):
    def fail(job):
        raise error

    assert (run(job, fail).state, job.error) == ("failed", said)


def test_a_lost_database_leaves_it_to_the_sweep(job):
    def lose(job):
        raise OperationalError("the server closed the connection")

    with pytest.raises(OperationalError):
        run_job(type(job), job.pk, lose, part=job.part)
    job.refresh_from_db()
    assert (job.state, job.error) == ("running", "")


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_have_the_same_job(project):
    job = asked_for(AnswerCheck, project)
    with psycopg.connect(**connection.get_connection_params()) as other:
        key = (AnswerCheck._meta.label, job.pk)
        other.execute("SELECT pg_advisory_lock(hashtext(%s), %s)", key)
        assert run(job, die).state == "queued"
        other.execute("SELECT pg_advisory_unlock(hashtext(%s), %s)", key)
    assert run(job).state == "done"


def test_files_sent_together_have_their_turn_one_after_the_other(project, manager, sent):
    group = ImportGroup.objects.create(project=project, name="two")
    first, second = (
        ImportJob.objects.create(project=project, group=group, filename=name, path=f"/nowhere/{name}") for name in "ab"
    )
    assert run(second, die).state == "queued"
    ImportJob.objects.update(created_at=LONG_AGO)
    assert sweep_jobs() == 1
    cancel_job(by=manager, job=first)
    assert sent == [("intake.run", first.pk, "default"), ("intake.run", second.pk, "default")]
    assert run(second).state == "done"


@pytest.mark.django_db(transaction=True)
def test_a_lock_is_free_again_after_its_transaction_has_failed():
    with pytest.raises(DataError), transaction.atomic(), advisory_lock("job", 1):
        connection.cursor().execute("SELECT 1 / 0")
    with psycopg.connect(**connection.get_connection_params()) as other:
        assert other.execute("SELECT pg_try_advisory_lock(hashtext('job'), 1)").fetchone() == (True,)
