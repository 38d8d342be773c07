"""Jobs on models: done once, asked for again when their worker died, refused with the library's own reason."""

import io

import pytest
from django.core.management import CommandError, call_command

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.core.lifecycle import cancel_job
from annotation.loop.model_jobs import auditing, exporting, importing, jobs, library
from annotation.loop.model_jobs.library import run_command
from annotation.models import AuditEntry, ModelJob, RunStage, TrainingRun
from tests.factories import MembershipFactory, ModelVersionFactory, SnapshotFactory

pytestmark = pytest.mark.django_db
State = ModelJob.State


@pytest.fixture(autouse=True)
def _folders(settings, tmp_path):
    settings.STATE_ROOT = tmp_path


@pytest.fixture
def version():
    return ModelVersionFactory(number=1)


@pytest.fixture
def manager(version):
    return MembershipFactory(project=version.project, role="manager").user


@pytest.fixture
def done(monkeypatch):
    """Jobs that were done, in place of doing them."""
    found = []
    monkeypatch.setattr(jobs, "PERFORM", dict.fromkeys(ModelJob.Kind, found.append))
    return found


def test_a_manager_asks_once_and_one_worker_does_it(version, manager, done):
    with pytest.raises(Forbidden):
        jobs.request_export(by=MembershipFactory(project=version.project).user, version=version)
    job = jobs.request_export(by=manager, version=version)
    with pytest.raises(Conflict, match="already running"):
        jobs.request_export(by=manager, version=version)
    for _ in range(2):
        jobs.run_model_job(job.pk)
    assert done == [job]
    job.refresh_from_db()
    assert job.state == State.DONE
    told = AuditEntry.objects.filter(target_id=str(version.pk)).order_by("pk").values_list("action", flat=True)
    assert list(told) == ["model.export", "model.export.done"]
    jobs.request_export(by=manager, version=version)


def test_an_export_is_not_called_by_the_folder_that_it_was_written_to(version, manager, monkeypatch):
    def export(job, *arguments):
        arguments[-1].mkdir(parents=True)
        job.message = f"7 files in {arguments[-1]}"

    monkeypatch.setattr(exporting, "run_command", export)
    job = jobs.request_export(by=manager, version=version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert (job.state, str(job.message)) == (State.DONE, f"Model {version.number} is ready to download.")


def test_a_job_under_way_is_cancelled_and_leaves_nothing_behind(version, manager, monkeypatch):
    job = jobs.request_export(by=manager, version=version)
    begun = exporting.export_path(version).with_name(f"{version.pk}.partial")

    def cancel_meanwhile(job, *arguments):
        begun.mkdir(parents=True)
        cancel_job(by=manager, job=job)
        run_command(job, "--help")

    monkeypatch.setattr(exporting, "run_command", cancel_meanwhile)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (State.CANCELLED, "")
    assert not begun.exists()
    told = AuditEntry.objects.filter(target_id=str(version.pk)).order_by("pk").values_list("action", flat=True)
    assert list(told) == ["model.export", "model.export.cancel", "model.export.cancelled"]


@pytest.mark.slow
def test_the_reason_of_the_library_is_the_jobs(version, manager, settings):
    job = jobs.request_export(by=manager, version=version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert f"{version.path} is not a model folder: it has no manifest.json" in job.error
    assert f"(log: runs/model-job-{job.pk}.log)" in job.error
    assert str((settings.STATE_ROOT / "models").parent) not in job.error + job.message, (
        "no folder of the server is shown"
    )
    with pytest.raises(DomainError, match="not a model folder"):
        run_command(job, "card", "--model", "nowhere")


def test_a_command_that_was_killed_says_so_and_blames_no_earlier_attempt(version, manager, monkeypatch):
    job = jobs.request_export(by=manager, version=version)
    commands = iter(["echo no model; exit 1", "kill -9 $$"])
    monkeypatch.setattr(library, "prm_command", lambda *arguments: ["sh", "-c", next(commands)])
    with pytest.raises(DomainError, match=r"^no model"):
        run_command(job, "export")
    with pytest.raises(DomainError, match=r"^signal 9: no reason given"):
        run_command(job, "export")


def test_an_audit_needs_a_holdout_it_was_measured_on(version, manager):
    with pytest.raises(DomainError, match="was not measured in this project"):
        jobs.request_audit(by=manager, version=version)


def test_an_audit_that_fails_leaves_nothing_among_the_models_files(version, manager, monkeypatch, settings):
    version.snapshot = SnapshotFactory(project=version.project)
    version.save()
    monkeypatch.setattr(auditing, "read_snapshot", lambda snapshot: [])
    job = jobs.request_audit(by=manager, version=version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.failure) == (State.FAILED, "no_holdout")
    assert list((settings.STATE_ROOT / "models" / version.path).iterdir()) == []


@pytest.mark.parametrize("folder", ["elsewhere", "../models", ".", "", "/etc"])
def test_only_what_the_operator_put_there_is_imported(version, manager, settings, folder):
    (settings.STATE_ROOT / importing.FOLDER / "theirs").mkdir(parents=True)
    assert importing.importable_folders() == ["theirs"]
    with pytest.raises(DomainError, match="There is no folder"):
        jobs.request_import(by=manager, project=version.project, folder=folder)


def test_an_import_from_a_shell_waits_for_the_worker_that_is_at_it(version, manager, settings, monkeypatch):
    (settings.STATE_ROOT / importing.FOLDER / "theirs").mkdir(parents=True)
    asked = []

    def run_beside_a_worker(job):
        asked.append(job)
        if len(asked) == 2:  # in other hands at first
            ModelJob.objects.filter(pk=job).update(state=State.DONE, model_version=version, message="Measured soon.")

    monkeypatch.setattr("annotation.management.commands.import_model.run_model_job", run_beside_a_worker)
    out = io.StringIO()
    call_command("import_model", "theirs", project=version.project.slug, by=manager.username, stdout=out)
    assert out.getvalue() == f"Model 1 of {version.project}. Measured soon.\n"


def test_an_import_from_a_shell_names_the_unknown_project_or_user(version, manager):
    with pytest.raises(CommandError, match=f"Choose one of: {version.project.slug}"):
        call_command("import_model", "theirs", project="nothing", by=manager.username)
    with pytest.raises(CommandError, match="There is no user 'nobody'"):
        call_command("import_model", "theirs", project=version.project.slug, by="nobody")


def test_the_download_is_a_tar_file_that_any_tar_reads(version, tmp_path):
    import tarfile

    folder = exporting.export_path(version)
    folder.mkdir(parents=True)
    content = {"a.json": b"{}", "empty.txt": b"", "model.safetensors": bytes(range(256)) * 5000}
    for name, data in content.items():
        (folder / name).write_bytes(data)
    with tarfile.open(fileobj=io.BytesIO(b"".join(exporting.packed_export(version)))) as packed:
        found = {member.name: packed.extractfile(member).read() for member in packed}
    assert found == {f"{exporting.export_name(version)}/{name}": data for name, data in content.items()}


def test_a_download_that_a_new_export_overtakes_is_the_earlier_export(version):
    folder = exporting.export_path(version)
    folder.mkdir(parents=True)
    for name in ("a.json", "b.json"):
        (folder / name).write_text(f"old {name}")
    download = exporting.packed_export(version)
    first = next(download)
    folder.rename(folder.with_name("replaced"))
    folder.mkdir()
    for name in ("a.json", "b.json"):
        (folder / name).write_text(f"new {name}")
    whole = first + b"".join(download)
    assert b"old b.json" in whole
    assert b"new" not in whole


@pytest.fixture
def round_that_waits(version):
    """A round that nobody trains: its first stage is done, and that was a while ago."""
    run = TrainingRun.objects.create(
        project=version.project, number=9, trigger="manual", seed=0, state="running", heartbeat_at="2026-01-01T00:00Z"
    )
    for order, name in enumerate(("snapshot", "train")):
        state = "waiting" if order else "done"
        RunStage.objects.create(run=run, name=name, order=order, queue="gpu" if order else "default", state=state)
    return run


def unasked(version):
    return ModelJob.objects.create(project=version.project, kind="audit", model_version=version)


@pytest.mark.parametrize("asked", [True, False])
def test_a_job_waits_while_a_round_does_whoever_asked_for_it(version, manager, done, round_that_waits, asked):
    job = jobs.request_export(by=manager, version=version) if asked else unasked(version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert (done, job.state, job.message) == (
        [],
        State.QUEUED,
        "A training round has priority. This job resumes after it.",
    )
    round_that_waits.stages.filter(name="train").update(state="running")
    jobs.run_model_job(job.pk)
    assert done == [job]


def test_a_job_under_way_gives_way_to_a_round_and_is_done_later(version, manager, monkeypatch, round_that_waits):
    monkeypatch.setattr(jobs, "PERFORM", {"export": lambda job: run_command(job, "--help")})
    monkeypatch.setattr(jobs, "give_way", lambda: None)  # none waited when it began
    job = jobs.request_export(by=manager, version=version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts) == (State.QUEUED, 0)
    round_that_waits.stages.filter(name="train").update(state="done")
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.DONE
