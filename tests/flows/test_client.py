"""The client against a live server: every method, with the errors that a program handles."""

import csv
import io

import pytest

from annotation.core.membership.tokens import issue_token
from annotation.files import import_body
from annotation.labels.datasets.export_jobs import run_export
from annotation.models import ExportJob, Lease, Scope
from stepmark import ApiError, Client
from stepmark import client as module
from tests.factories import UserFactory

SUMS = '{"problem": "What is 1 + %d?", "steps": ["1 + %d = 9.", "So 9."], "source_group": "%d"}'


@pytest.fixture
def client(live_server):
    _token, secret = issue_token(by=UserFactory(is_staff=True), name="program", scopes=Scope.values)
    with Client(live_server.url, secret) as client:
        yield client


@pytest.fixture
def worker(monkeypatch):
    """The server makes an export as soon as it is asked for."""

    def do(task, args, _queue):
        if task == ExportJob.TASK:
            run_export(*args)

    monkeypatch.setattr("annotation.core.jobs._send", do)


@pytest.fixture
def project(client, tmp_path, monkeypatch, settings):
    settings.STATE_ROOT = tmp_path
    path = tmp_path / "sums.jsonl"
    path.write_text("\n".join(SUMS % (n, n, n) for n in range(30)))
    monkeypatch.setattr(module, "PIECE", 1000)
    project = client.create_project("sums", "Sums", guidelines="Read.")["slug"]
    sent = []
    job = client.import_file(project, path, progress=lambda *both: sent.append(both), wait=False)
    assert sent[0] == (1000, path.stat().st_size)
    assert sent[-1] == (path.stat().st_size, path.stat().st_size)
    import_body.run_import(job["id"])
    done = client.wait(job)
    assert (done["state"], done["accepted"]) == ("done", 30)
    client.open_generation(project)
    return project


def test_label_skip_and_take_the_labels_out(client, project, worker, tmp_path):
    first = client.claim(project)
    assert client.heartbeat(first)["expires_at"] >= first["lease"]["expires_at"]
    receipt = client.submit(project, first, [-1], comment="No.")
    assert (receipt["first_error"], receipt["revision"]) == (0, 1)
    second = client.claim(project)
    client.release(second, "Too hard")
    assert Lease.objects.get(pk=second["lease"]["id"]).state == "released"
    third = client.claim(project)
    fourth = client.submit_and_claim(project, third, [1, 1])
    assert fourth["lease"]["id"] == Lease.objects.get(state="active").pk
    labelled = {task["solution"]["id"] for task in (first, third)}
    assert {row["solution"] for row in client.labels(project, limit=1)} == labelled
    assert {row["solution"]: row["steps"][0]["bad"] for row in client.consensus(project)} == {
        first["solution"]["id"]: 1, third["solution"]["id"]: 0,
    }  # fmt: skip
    assert len(list(client.solutions(project, limit=7))) == 30
    snapshot = client.create_snapshot(project)
    assert [row["id"] for row in client.snapshots(project)] == [snapshot["id"]]
    assert len(client.download(snapshot, tmp_path / "labels.jsonl").read_bytes().splitlines()) == 2
    table = client.download(snapshot, tmp_path / "labels.csv", format="csv").read_text()
    assert len(list(csv.reader(io.StringIO(table)))) > 2
    assert sorted(path.name for path in tmp_path.glob("*labels*")) == ["labels.csv", "labels.jsonl"]


def test_solutions_are_posted_and_projects_are_read(client, project):
    posted = client.post_solutions(project, [{"problem": "What is 5 + 5?", "steps": ["It is 10."]}])
    assert posted["accepted"] == 1
    assert [row["slug"] for row in client.projects()] == [project]
    changed = client.patch(f"projects/{project}/", {"name": "More sums"})
    assert client.project(project) == changed


def test_what_the_api_rejects_is_an_error_with_its_code(client, project, worker, tmp_path):
    with pytest.raises(ApiError) as error:
        client.train(project)
    assert (error.value.code, error.value.extra["labelled"], error.value.status) == ("too_few_labels", 0, 400)
    with pytest.raises(ApiError) as error:
        client.create_project(project, "Again")
    assert error.value.code == "slug_taken"
    client.submit(project, client.claim(project), [-1])
    with pytest.raises(ApiError):
        client.download(client.create_snapshot(project), tmp_path / "labels", format="nothing")
    with pytest.raises(ApiError) as error:
        client.project("another")
    assert (error.value.code, error.value.status) == ("project_not_found", 404)
    with pytest.raises(ApiError) as error:
        client.judge(project, "nowhere", template="critic", cost_budget=1.0)
    assert error.value.code == "unknown_endpoint"


def test_a_webhook_is_registered(client, project):
    webhook = client.create_webhook(project, "http://127.0.0.1:9/", ["run.done"])
    assert webhook["secret"].startswith("whsec_")
    client.delete(f"webhooks/{webhook['id']}/")
    assert list(client.each(f"projects/{project}/webhooks/")) == []
