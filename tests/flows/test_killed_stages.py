"""A worker that dies anywhere in a stage leaves nothing that a second attempt does not put right."""

import shutil

import pytest
from django.db import connection
from django.utils import timezone

from annotation.loop import registry
from annotation.loop.gateway import training
from annotation.loop.rounds import pipeline, runs
from annotation.loop.rounds.stages import gate, train
from annotation.models import (
    AuditEntry,
    Generation,
    ModelVersion,
    PoolScore,
    QueueItem,
    RunStage,
    Snapshot,
    TrainingRun,
)
from tests.factories import UserFactory, make_comparison
from tests.library import stay_in_process
from tests.rounds_world import folders, labelled_project

pytestmark = pytest.mark.django_db(transaction=True)
DEATHS = (0.0, 0.35, 0.7, 1.0)  # as shares of a stage's writes: before the first, between, and after the last
WRITES = ("INSERT", "UPDATE", "DELETE", "COPY", "CREATE", "ALTER")


class Killed(BaseException):
    """As `kill -9`: no handler of the pipeline sees it, open transactions are rolled back, the lock is free."""


class DiesAtWrite:
    """Counts a stage's writes to the database, and dies at one of them."""

    def __init__(self, at=None):
        self.at, self.writes = at, 0

    def __call__(self, execute, sql, params, many, context):
        if str(sql).lstrip("( ").upper().startswith(WRITES):
            if self.writes == self.at:
                raise Killed
            self.writes += 1
        return execute(sql, params, many, context)


@pytest.fixture
def project(settings, tmp_path, monkeypatch):
    """Its trainings end at once, with the model of its first run, which serves."""
    folders(settings, tmp_path)
    stay_in_process(monkeypatch)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    config = training.training_config
    monkeypatch.setattr(train, "training_config", lambda policy, seed: config(policy, seed=seed) | {"epochs": 1})
    verdict = make_comparison(gain=0.1, low=0.01, high=0.2, solutions=20, problems=10, samples=[0.1])
    monkeypatch.setattr(gate, "compare", lambda data, **given: verdict)
    project = labelled_project(UserFactory(is_staff=True), labelled=60, unlabelled=20)
    run = pipeline.run_through(begin(project))
    assert run.state == TrainingRun.State.DONE, run.error
    made = settings.STATE_ROOT / "models" / run.model_version.path
    monkeypatch.setattr(train, "is_unchanged", lambda *given: False)
    monkeypatch.setattr(train.trainer, "train", lambda out, **given: shutil.copytree(made, out, dirs_exist_ok=True))
    return project


def begin(project):
    return runs.prepare_run(
        by=project.memberships.get(user__isnull=False).user, project=project, trigger="manual", seed=7
    )


def rows():
    """Everything that a round writes, without its keys and times."""
    return {
        "snapshots": Snapshot.objects.count(),
        "versions": list(ModelVersion.objects.order_by("pk").values_list("number", "state", "sha256")),
        "scores": PoolScore.objects.count(),
        "generations": list(Generation.objects.order_by("pk").values_list("number", "state")),
        "items": QueueItem.objects.count(),
        "promotions": AuditEntry.objects.filter(action="model.promote").count(),
        "registrations": AuditEntry.objects.filter(action="model.register").count(),
        "verdicts": AuditEntry.objects.filter(action="model.judge").count(),
    }


def stage_with(run, guard):
    """Do the run's next stage under `guard`; whether it died."""
    with connection.execute_wrapper(guard):
        try:
            pipeline.perform_next(run)
        except Killed:
            return True
    return False


def test_killed_in_every_stage_at_several_writes_a_round_ends_as_if_nothing_had_happened(project):
    undisturbed = begin(project)
    before, writes = rows(), {}
    for name in pipeline.STAGES:
        counter = DiesAtWrite()
        while undisturbed.stages.get(name=name).state not in RunStage.ENDED:
            stage_with(undisturbed, counter)
        writes[name] = counter.writes
    undisturbed.refresh_from_db()
    assert undisturbed.state == TrainingRun.State.DONE, undisturbed.error
    one_round = rows()

    disturbed = begin(project)
    deaths = 0
    for name in pipeline.STAGES:
        for share in DEATHS:
            deaths += stage_with(disturbed, DiesAtWrite(at=int(share * (writes[name] - 1))))
            champion = registry.champion_of(project)
            assert champion is not None, "nothing serves while a worker is dead"
            TrainingRun.objects.filter(pk=disturbed.pk).update(attempts=0, heartbeat_at=timezone.now())
    assert deaths > len(pipeline.STAGES)
    assert pipeline.run_through(disturbed).state == TrainingRun.State.DONE, disturbed.error

    two_rounds = rows()
    for what in ("snapshots", "scores", "items", "promotions", "registrations", "verdicts"):
        gained = one_round[what] - before[what]
        assert two_rounds[what] - one_round[what] == gained, what
    assert len(two_rounds["versions"]) == len(one_round["versions"]) + 1
    assert len(two_rounds["generations"]) == len(one_round["generations"]) + 1
    assert [state for _n, state, _sha in two_rounds["versions"]].count("champion") == 1
    assert [state for _n, state in two_rounds["generations"]].count("open") == 1
