"""Which weights go, and what stays for ever."""

import pytest

from annotation.core import storage
from annotation.core.errors import Conflict
from annotation.loop import registry
from annotation.loop.gateway.training import model_path
from annotation.loop.model_jobs import retention
from annotation.loop.pool.partitions import create_partition, write_scores
from annotation.models import AuditEntry, DomainChampion, ModelVersion, PoolScore
from tests.factories import MembershipFactory, ModelVersionFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db
State = ModelVersion.State


@pytest.fixture
def project(settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    return ProjectFactory(policy={"keep_models": 2})


def version_of(project, number, **fields):
    version = ModelVersionFactory(project=project, number=number, path=f"model-{number}", **fields)
    (project_folder := model_path(version)).mkdir(parents=True)
    (project_folder / "model.safetensors").write_bytes(b"weights")
    return version


def test_the_latest_what_serves_and_what_is_pinned_keep_their_weights(
    project, django_capture_on_commit_callbacks, settings
):
    serving = version_of(project, 1, state=State.CHAMPION)
    pinned = version_of(project, 2, state=State.RETIRED, pinned=True)
    of_a_domain = version_of(project, 3, state=State.RETIRED)
    DomainChampion.objects.create(project=project, domain="algebra", model_version=of_a_domain)
    training = version_of(project, 4)
    project.training_runs.create(number=1, trigger="manual", seed=0, model_version=training)
    old = version_of(project, 5, state=State.REJECTED)
    create_partition(old)
    write_scores(old, [PoolScore(model_version=old, solution=SolutionFactory(project=project), mean=[], spread=[])])
    latest = [version_of(project, 6, state=State.REJECTED), version_of(project, 7)]
    with django_capture_on_commit_callbacks(execute=True):
        assert retention.keep_to_policy() == 1
    kept = {path.name for path in (settings.STATE_ROOT / "models").iterdir()}
    assert kept == {f"model-{v.number}" for v in (serving, pinned, of_a_domain, training, *latest)}
    old.refresh_from_db()
    assert old.weights_deleted_at is not None
    assert not PoolScore.objects.filter(model_version=old).exists()
    said = AuditEntry.objects.get(action="model.delete_weights")
    assert (said.by, said.target_id, said.before["path"]) == (None, str(old.pk), "model-5")
    assert retention.keep_to_policy() == 0
    manager = MembershipFactory(project=project, role="manager").user
    with pytest.raises(Conflict, match="retention policy deleted the weights"):
        registry.promote_version(by=manager, version=old)


def test_a_version_that_was_promoted_or_pinned_meanwhile_is_kept(project):
    for number in range(1, 5):
        version_of(project, number, state=State.RETIRED)
    first, second = retention.due_versions(project)
    ModelVersion.objects.filter(pk=first.pk).update(state=State.CHAMPION)
    ModelVersion.objects.filter(pk=second.pk).update(pinned=True)
    assert not retention.delete_weights(first)
    assert not retention.delete_weights(second)
    assert model_path(first).exists()


def test_files_that_a_dead_process_left_behind_go_the_next_time(project):
    version = version_of(project, 1, weights_deleted_at="2026-01-01T00:00Z")
    retention.keep_to_policy()
    assert not model_path(version).exists()


def test_files_that_are_gone_are_not_deleted_again(project, monkeypatch):
    version_of(project, 1, weights_deleted_at="2026-01-01T00:00Z")
    retention.keep_to_policy()
    monkeypatch.setattr(storage, "remove", lambda key: pytest.fail(f"{key} is deleted already"))
    retention.keep_to_policy()


def test_such_files_go_although_a_project_fails(project):
    version = version_of(project, 1, weights_deleted_at="2026-01-01T00:00Z")
    ProjectFactory(policy={"keep_models": "all"})
    with pytest.raises(ExceptionGroup):
        retention.keep_to_policy()
    assert not model_path(version).exists()
