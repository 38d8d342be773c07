"""Rounds, generations and models over the HTTP API."""

import pytest
from rest_framework.test import APIClient

from annotation.loop.rounds import runs
from annotation.models import Membership, ModelVersion, RunPoint, TrainingRun
from tests.factories import MembershipFactory, ModelVersionFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def project(manager):
    return manager.project


@pytest.fixture
def client(manager):
    return signed_in(manager)


def signed_in(member):
    client = APIClient()
    client.force_login(member.user)
    return client


@pytest.fixture
def run(project, client, monkeypatch):
    monkeypatch.setattr(runs, "check_labels", lambda project: None)
    answer = client.post(f"/api/v1/projects/{project.slug}/runs/")
    assert answer.status_code == 202
    return answer.json()


def job_address(project, run):
    return f"/api/v1/projects/{project.slug}/jobs/run/{run['id']}/"


def test_begin_watch_and_cancel(project, client, run):
    assert (run["number"], run["state"], run["trigger"], run["gate"]) == (1, "queued", "manual", None)
    assert [stage["name"] for stage in run["stages"]][:3] == ["snapshot", "train", "evaluate"]
    again = client.post(f"/api/v1/projects/{project.slug}/runs/")
    assert (again.status_code, again.json()["code"]) == (409, "run_in_progress")
    assert again.json()["extra"] == {"run": 1}
    RunPoint.objects.create(run=TrainingRun.objects.get(), stage="train", step=3, of=10, loss=0.5)
    watched = client.get(job_address(project, run)).json()
    assert [(point["step"], point["loss"]) for point in watched["points"]] == [(3, 0.5)]
    assert client.get(f"/api/v1/projects/{project.slug}/runs/").json()["results"] == [run]
    cancelled = client.post(job_address(project, run) + "cancel/")
    assert (cancelled.status_code, cancelled.json()["project"]) == (200, project.slug)
    assert TrainingRun.objects.get().cancel_requested


def test_too_few_labels_are_said(project, client):
    answer = client.post(f"/api/v1/projects/{project.slug}/runs/")
    assert (answer.status_code, answer.json()["code"]) == (400, "too_few_labels")
    assert answer.json()["extra"] == {"labelled": 0, "needed": runs.LEAST_SOLUTIONS}


def test_annotators_and_strangers_begin_and_see_nothing(project, run):
    annotator = signed_in(MembershipFactory(project=project))
    assert annotator.post(job_address(project, run) + "cancel/").status_code == 403
    assert annotator.post(f"/api/v1/projects/{project.slug}/generations/").status_code == 403
    assert signed_in(MembershipFactory()).get(job_address(project, run)).status_code == 404


def test_open_a_generation_and_look_at_it(project, client):
    address = f"/api/v1/projects/{project.slug}/generations/"
    assert client.post(address).json()["code"] == "nothing_to_label"
    SolutionFactory.create_batch(5, project=project)
    opened = client.post(address)
    assert opened.status_code == 201
    assert (opened.json()["number"], opened.json()["acquisition"], opened.json()["state"]) == (0, "random", "open")
    assert sum(opened.json()["mix"].values()) == 5
    assert client.post(address).json()["number"] == 1
    assert [g["state"] for g in client.get(address).json()["results"]] == ["open", "retired"]


def test_roll_back_to_an_earlier_model(project, client):
    old = ModelVersionFactory(project=project, number=1, state=ModelVersion.State.RETIRED)
    ModelVersionFactory(project=project, number=2, state=ModelVersion.State.CHAMPION)
    promoted = client.post(f"/api/v1/models/{old.pk}/promote/")
    assert (promoted.status_code, promoted.json()["state"]) == (200, "champion")
    listed = client.get(f"/api/v1/projects/{project.slug}/models/").json()["results"]
    assert [(v["number"], v["state"]) for v in listed] == [(2, "retired"), (1, "champion")]
    assert client.post(f"/api/v1/models/{old.pk}/promote/").json()["code"] == "already_champion"
    assert signed_in(MembershipFactory()).post(f"/api/v1/models/{old.pk}/promote/").status_code == 404
