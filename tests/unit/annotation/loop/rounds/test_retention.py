"""Old runs lose their files and their log; what they came to stays, and so does what is still of use."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Missing
from annotation.loop.rounds import retention, runs
from annotation.loop.rounds.artefacts import artefacts_of, find_artefact, model_folder, run_folder
from annotation.models import Membership, RunPoint, TrainingRun
from tests.factories import MembershipFactory, ModelVersionFactory
from tests.rounds_world import folders

pytestmark = pytest.mark.django_db(transaction=True)
State = TrainingRun.State


@pytest.fixture
def manager(settings, tmp_path, monkeypatch):
    folders(settings, tmp_path)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)
    monkeypatch.setattr(runs, "check_labels", lambda project: None)
    member = MembershipFactory(role=Membership.Role.MANAGER)
    member.project.policy = {"rounds": {"keep_days": 30}}
    member.project.save()
    return member


def ended_run(manager, days, **fields):
    run = runs.prepare_run(by=manager.user, project=manager.project, trigger="manual")
    ended = timezone.now() - timedelta(days=days)
    TrainingRun.objects.filter(pk=run.pk).update(**{"state": State.FAILED, "finished_at": ended} | fields)
    run.refresh_from_db()
    RunPoint.objects.create(run=run, stage="train", message="a line")
    for folder in (run_folder(run), model_folder(run)):
        (folder / "checkpoint").mkdir(parents=True)
        (folder / "checkpoint" / "state").write_text("some")
    return run


def test_only_what_is_older_than_the_policy_keeps(manager):
    old, young = ended_run(manager, 31), ended_run(manager, 29)
    assert retention.prune_runs() == 1
    assert not run_folder(old).exists()
    assert not model_folder(old).exists()
    assert not old.points.exists()
    assert run_folder(young).exists()
    assert young.points.exists()
    assert retention.prune_runs() == 0


def test_a_model_outlives_the_folder_of_its_run(manager):
    version = ModelVersionFactory(project=manager.project)
    run = ended_run(manager, 31, state=State.DONE, model_version=version)
    assert retention.prune_runs() == 1
    assert model_folder(run).exists()
    assert not run_folder(run).exists()


def test_nothing_goes_while_a_run_goes_on(manager):
    run = ended_run(manager, 31)
    TrainingRun.objects.filter(pk=run.pk).update(state=State.RUNNING)
    assert retention.prune_runs() == 0
    assert run_folder(run).exists()


def test_zero_days_keep_for_ever(manager):
    manager.project.policy = {"rounds": {"keep_days": 0}}
    manager.project.save()
    ended_run(manager, 4000)
    assert retention.prune_runs() == 0


def test_a_pruned_run_is_not_retried(manager):
    run = ended_run(manager, 31)
    retention.prune_runs()
    with pytest.raises(Conflict) as conflict:
        runs.resume_run(by=manager.user, job=run)
    assert conflict.value.code == "files_gone"
    assert run.stage is not None


def test_only_listed_files_can_be_opened(manager, tmp_path):
    run = ended_run(manager, 1)
    (tmp_path / "secret").write_text("x")
    (run_folder(run) / "link").symlink_to(tmp_path / "secret")
    listed = {(one.area, one.name) for one in artefacts_of(run)}
    assert listed == {("run", "checkpoint/state"), ("model", "checkpoint/state")}
    assert find_artefact(run, "run", "checkpoint/state").read_text() == "some"
    for area, name in [("run", "../../secret"), ("run", "link"), ("elsewhere", "checkpoint/state"), ("run", "")]:
        with pytest.raises(Missing):
            find_artefact(run, area, name)
