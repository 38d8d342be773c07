"""The buttons of a job: each kind is cancelled from its page, which opens again."""

import pytest

from annotation.loop.resuming import SERVICES
from annotation.models import (
    AnswerCheck,
    ConsensusFit,
    ContaminationCheck,
    ExportJob,
    ImportJob,
    Job,
    JobEntry,
    JudgingRun,
    ModelJob,
    PoolScoring,
    SampledProblem,
    SamplingRun,
    SimulationRun,
    Snapshot,
    TrainingRun,
)
from labelling_ui.pages.jobs import KINDS

pytestmark = pytest.mark.django_db


def begun_run(project):
    run = TrainingRun.objects.create(project=project, number=77, trigger="manual", seed=0)
    run.stages.create(name="snapshot", order=0)
    return run


def asked_for(kind, project):
    version = project.model_versions.first()
    snapshot, _ = Snapshot.objects.get_or_create(project=project, sha256="d" * 64, path="d.jsonl", counts={})
    created = {
        "import": lambda: ImportJob.objects.create(project=project, filename="f.jsonl", path="/nowhere/f"),
        "answers": lambda: AnswerCheck.objects.create(project=project),
        "export": lambda: ExportJob.objects.create(project=project, target="/exports"),
        "overlap": lambda: ContaminationCheck.objects.create(project=project, snapshot=snapshot, filename="b.json"),
        "fit": lambda: ConsensusFit.objects.create(project=project, number=1, method="reliability"),
        "sampling": lambda: SamplingRun.objects.create(project=project, endpoint="e", model="m", seed=0),
        "judging": lambda: JudgingRun.objects.create(
            project=project, method="monte_carlo", endpoint="e", model="m", prompt="{problem}", currency="EUR", seed=0
        ),
        "simulation": lambda: SimulationRun.objects.create(
            project=project, snapshot=snapshot, functions=["random", "entropy"], seeds=1, budget=40
        ),
        "model": lambda: ModelJob.objects.create(project=project, kind="export", model_version=version),
        "run": lambda: begun_run(project),
        "pool": lambda: PoolScoring.objects.create(project=project, model_version=version, wanted=4),
    }
    return created[kind]()


@pytest.mark.parametrize(("kind", "page"), [("answers", "answers"), ("fit", "consensus/1")])
def test_only_managers_see_the_button(client, people, project, kind, page):
    asked_for(kind, project)
    for role, shown in (("manager", True), ("reviewer", False)):
        client.force_login(people[role])
        assert ("/cancel/" in client.get(f"/p/algebra/{page}/").content.decode()) == shown


@pytest.mark.parametrize(
    "kind", ["import", "answers", "export", "overlap", "fit", "sampling", "judging", "simulation", "model", "run"]
)
def test_it_is_cancelled_from_its_page(manager, project, kind):
    job = asked_for(kind, project)
    button = f'action="/p/algebra/jobs/{kind}/{job.pk}/cancel/"'
    answer = manager.post(f"/p/algebra/jobs/{kind}/{job.pk}/cancel/")
    job.refresh_from_db()
    assert (answer.status_code, job.state) == (302, "cancelled")
    page = manager.get(answer["Location"]).content.decode()
    assert button not in page
    assert "model.export" not in page, "what happened to a model is told in words"
    type(job).objects.filter(pk=job.pk).update(state="running", cancel_requested=False)
    assert button in manager.get(answer["Location"]).content.decode()


def test_the_page_says_that_it_stops_until_it_has(manager, project):
    job = asked_for("answers", project)
    cancelled = manager.post(f"/p/algebra/jobs/answers/{job.pk}/cancel/", follow=True)
    assert "stops within a minute" not in cancelled.content.decode(), "no worker had it"
    AnswerCheck.objects.filter(pk=job.pk).update(state="running")
    assert "stops within a minute" in manager.get(cancelled.redirect_chain[-1][0]).content.decode()


def test_a_waiting_job_leads_to_those_that_have_the_workers(manager, project):
    waiting, running = asked_for("simulation", project), asked_for("answers", project)
    AnswerCheck.objects.filter(pk=running.pk).update(state="running")
    address = "/p/algebra/jobs/?state=running"
    assert f'href="{address}"' in manager.get(f"/p/algebra/simulations/{waiting.pk}/").content.decode()
    listed = manager.get(address).content.decode()
    assert "/p/algebra/answers/" in listed
    assert f"/p/algebra/simulations/{waiting.pk}/" not in listed


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_programs_cancel_and_resume_every_kind_at_one_address(manager, project, kind):
    if kind == "run":
        TrainingRun.objects.filter(project=project).update(state="failed")
    job = asked_for(kind, project)
    address = f"/api/v1/projects/algebra/jobs/{kind}/{job.pk}/"
    read = manager.get(address).json()
    assert (read["id"], read["kind"], read["project"], read["state"]) == (job.pk, kind, "algebra", "queued")
    assert manager.post(f"{address}cancel/").json()["state"] == "cancelled"
    assert manager.post(f"{address}cancel/").json()["code"] == "job_over"
    SampledProblem.objects.bulk_create(
        SampledProblem(run=run, problem=project.problems.first(), position=0) for run in SamplingRun.objects.all()
    )
    SamplingRun.objects.update(endpoint="sandbox")
    for run in JudgingRun.objects.all():
        run.judged.create(solution=project.solutions.first(), position=0)
    JudgingRun.objects.update(endpoint="sandbox")
    resumed = manager.post(f"{address}resume/")
    if kind in SERVICES:
        assert (resumed.status_code, resumed.json()["state"], resumed.json()["retries"]) == (202, "queued", 1)
        assert manager.post(f"{address}resume/").status_code == 409
    else:
        assert (resumed.status_code, resumed.json()["code"]) == (404, "job_not_resumable")
    assert manager.get(f"/api/v1/projects/algebra/jobs/{kind}/0/").json()["code"] == "job_not_found"
    assert manager.get(f"/api/v1/projects/algebra/jobs/nothing/{job.pk}/").json()["code"] == "job_not_found"


def test_a_stopped_simulation_goes_on_and_an_import_does_not(manager, project):
    simulation, taken_in = asked_for("simulation", project), ImportJob.objects.create(project=project)
    SimulationRun.objects.update(state="failed", error="It fell.")
    manager.post(f"/p/algebra/jobs/simulation/{simulation.pk}/resume/")
    simulation.refresh_from_db()
    assert (simulation.state, simulation.error) == ("queued", "")
    assert manager.post(f"/p/algebra/jobs/import/{taken_in.pk}/resume/").status_code == 404
    refused = manager.post(f"/api/v1/projects/algebra/jobs/import/{taken_in.pk}/resume/")
    assert (refused.status_code, refused.json()["code"]) == (404, "job_not_resumable")


def test_jobs_on_models_are_looked_at_again_while_one_is_live(manager, project):
    job = asked_for("model", project)
    page = f"/p/algebra/models/{job.model_version.number}/"
    assert 'hx-select="#jobs"' in manager.get(page).content.decode()
    ModelJob.objects.update(state="done")
    assert 'hx-select="#jobs"' not in manager.get(page).content.decode()


def test_the_list_has_every_kind_with_its_button(manager, project, people):
    before = JobEntry.objects.count()
    for kind in KINDS:
        if kind == "run":
            TrainingRun.objects.filter(project=project).update(state="failed")
        asked_for(kind, project)
    assert set(KINDS) == set(Job.kinds())
    assert JobEntry.objects.count() == before + len(KINDS)
    page = manager.get("/p/algebra/jobs/").content.decode()
    for kind in KINDS:
        assert f"/p/algebra/jobs/{kind}/" in page, kind
    rows = manager.get("/p/algebra/jobs/?kind=pool&download=csv").getvalue().decode().splitlines()
    assert rows[0].startswith("kind,name,state,requested_by,asked,seconds,progress,outcome")
    assert len(rows) == 2
    PoolScoring.objects.update(state="failed", error="The disk is full.", failure="disk_full")
    page = manager.get("/p/algebra/jobs/?kind=pool&state=failed&sort=state").content.decode()
    assert "The disk is full." in page
    assert f"/p/algebra/jobs/pool/{PoolScoring.objects.get().pk}/resume/" in page
    SampledProblem.objects.create(
        run=SamplingRun.objects.get(), problem=project.problems.first(), position=0, state="failed"
    )
    JudgingRun.objects.get().judged.create(solution=project.solutions.first(), position=0, state="failed")
    for model in (SamplingRun, JudgingRun):
        model.objects.update(state="done")
        address = f"/p/algebra/jobs/{model.KIND}/{model.objects.get().pk}/resume/"
        assert address in manager.get("/p/algebra/jobs/?state=done").content.decode()
    SamplingRun.objects.update(state="scoring")
    assert "Waiting for scores" in manager.get("/p/algebra/jobs/?state=scoring").content.decode()
    listed = manager.get("/api/v1/projects/algebra/jobs/").json()["results"]
    told = next(row for row in listed if row["kind"] == "pool")
    assert (told["state"], told["failure"], told["outcome"]) == ("failed", "disk_full", "The disk is full.")
