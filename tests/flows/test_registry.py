"""A model leaves one installation and enters another: exported, imported, measured by the gate, audited."""

import pytest

from annotation.core.errors import Conflict
from annotation.loop import registry
from annotation.loop.model_jobs import auditing, exporting, importing, jobs
from annotation.loop.rounds import pipeline
from annotation.models import ModelJob, ModelVersion, RunStage, TrainingRun
from prm.evaluation.metrics import short
from tests.factories import UserFactory
from tests.library import stay_in_process
from tests.rounds_world import folders, labelled_project, serving_version

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quiet(settings, tmp_path, monkeypatch):
    folders(settings, tmp_path)
    stay_in_process(monkeypatch)
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: None)


def test_a_model_goes_out_comes_in_and_is_measured_before_it_may_serve(settings, client):
    manager = UserFactory(is_staff=True)
    project = labelled_project(manager, labelled=45, unlabelled=5, seed=3)  # whose holdout has both kinds
    original = serving_version(project)
    client.force_login(manager)

    # Out.
    client.post(f"/p/{project.slug}/models/1/export/")
    job = project.model_jobs.get(kind=ModelJob.Kind.EXPORT)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert job.state == ModelJob.State.DONE, job.error
    downloaded = client.get(f"/p/{project.slug}/models/1/download/")
    assert b"heads.safetensors" in b"".join(downloaded)

    # In, as the operator of another installation would.
    (settings.STATE_ROOT / importing.FOLDER).mkdir()
    exporting.export_path(original).rename(settings.STATE_ROOT / importing.FOLDER / "theirs")
    client.post(f"/p/{project.slug}/models/import/", {"folder": "theirs", "separator": "\\n", "good": "1"})
    job = project.model_jobs.get(kind=ModelJob.Kind.IMPORT)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert job.state == ModelJob.State.DONE, job.error
    version = job.model_version
    assert (version.number, version.origin, version.imported_from) == (2, "imported", "theirs")
    with pytest.raises(Conflict, match="is not measured on this project's holdout yet"):
        registry.promote_version(by=manager, version=version)

    # Measured: the round trains nothing, and the gate has the word.
    run = pipeline.run_through(TrainingRun.objects.get(model_version=version))
    assert run.state == TrainingRun.State.DONE, run.error
    assert run.stages.get(name=RunStage.Name.TRAIN).state == RunStage.State.SKIPPED
    version.refresh_from_db()
    assert version.gate.rival == "model 1"
    assert version.gate.gain == pytest.approx(0, abs=1e-9), "it is the same model"
    assert version.state == ModelVersion.State.REJECTED

    # Audited on the holdout that it was measured on, and the card tells of it.
    job = jobs.request_audit(by=manager, version=version)
    jobs.run_model_job(job.pk)
    job.refresh_from_db()
    assert job.state == ModelJob.State.DONE, job.error
    version.refresh_from_db()
    assert {finding.title for finding in version.audits.findings}
    page = client.get(f"/p/{project.slug}/models/2/").content.decode()
    for words in (
        "imported from",
        version.audits.findings[0].title,
        "Process reward model",
        "judged by the gate",
    ):
        assert words in page
    f1 = version.metrics.f1.value
    assert f"<td>{short(f1)} " in page, "the card has the figure of the registry"
    for said in (
        "No evaluation is recorded",
        "the model was not evaluated",
        "the model was not audited",
        str(settings.STATE_ROOT),
    ):
        assert said not in page
    report = client.get(f"/p/{project.slug}/models/2/audit-report/")
    assert report.headers["Content-Security-Policy"].startswith("sandbox")
    assert client.get(f"/p/{project.slug}/models/compare/?a=1&b=2").status_code == 200
    assert auditing.FOLDER in {path.name for path in auditing.model_path(version).iterdir()}
