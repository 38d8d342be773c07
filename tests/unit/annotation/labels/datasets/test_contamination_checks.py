"""Contamination checks as jobs: their files, their results, what the card says."""

import gzip
import json

import msgspec
import pytest
from django.urls import reverse

from annotation.core import storage
from annotation.core.errors import DomainError, Forbidden, Missing
from annotation.files.record_import import import_records
from annotation.files.uploads import store_file
from annotation.labels.datasets.contamination import (
    BenchmarkFile,
    contamination_of,
    find_benchmark,
    request_check,
    run_check,
)
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import ContaminationCheck, Upload
from tests.api_client import api_of
from tests.factories import MembershipFactory
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution

LONG = " ".join(f"word{n}" for n in range(30))


def lines(*problems):
    records = [
        {"id": f"b{n}", "problem": problem, "steps": [{"text": "x"}, {"text": "y"}]}
        for n, problem in enumerate(problems)
    ]
    return "\n".join(map(json.dumps, records)).encode()


@pytest.fixture(autouse=True)
def here(monkeypatch, settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    settings.IMPORT_ROOTS = {"disk": {"url": f"file://{tmp_path}"}}
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)
    (tmp_path / "bench.jsonl.gz").write_bytes(gzip.compress(lines(LONG, "other")))
    (tmp_path / "image.png").write_bytes(b"\x89PNG\x00\xff")


@pytest.fixture
def snapshot(project, manager):
    records = [solution(LONG, rated(1, 1)), solution(LONG + " more", rated(1)), solution("short", rated(1))]
    import_records(project=project, records=records, by=None)
    return create_snapshot(by=manager, project=project, filters={})


def checked(manager, snapshot, benchmark=None):
    check = request_check(by=manager, snapshot=snapshot, benchmark=benchmark)
    run_check(check.pk)
    check.refresh_from_db()
    return check


def test_the_result_is_stored_and_the_card_states_it(manager, snapshot):
    assert "Not checked against any benchmark." in dataset_card(snapshot)
    check = checked(manager, snapshot, find_benchmark("disk", "bench.jsonl.gz"))
    assert (check.state, check.error, check.filename, check.done) == ("done", "", "bench.jsonl.gz", 3)
    [report] = contamination_of(snapshot)
    assert (report.problems.found, report.problems.texts, report.problems.equal) == (2, 3, 1)
    assert (report.duplicate_groups, report.duplicates) == (1, 2)
    assert msgspec.to_builtins(report) == check.result
    card = dataset_card(snapshot)
    assert "`bench.jsonl.gz`" in card
    assert "2 of 3 problems share a run of 13 words" in card
    checked(manager, snapshot, find_benchmark("disk", "bench.jsonl.gz"))
    assert len(contamination_of(snapshot)) == 1, "the same file counts once"


def test_without_a_benchmark_only_near_duplicates_are_found(manager, snapshot):
    check = checked(manager, snapshot)
    assert (check.state, check.filename) == ("done", "")
    assert "2 of 3 problems are near-duplicates of each other" in dataset_card(snapshot)
    assert "share a run" not in dataset_card(snapshot)


def test_an_uploaded_file_is_deleted_at_the_end(manager, snapshot, django_capture_on_commit_callbacks):
    place = store_file(pieces=[lines(LONG)], filename="b.jsonl")
    with django_capture_on_commit_callbacks(execute=True):
        check = checked(manager, snapshot, BenchmarkFile(place, "b.jsonl"))
    assert (check.state, storage.fetch(storage.key_of(place)).exists()) == ("done", False)


@pytest.mark.parametrize(("name", "failure"), [("image.png", "benchmark_unreadable"), ("gone.jsonl", "file_not_found")])
def test_a_file_that_cannot_be_read_fails_the_check_with_its_name(manager, snapshot, tmp_path, name, failure):
    check = checked(manager, snapshot, BenchmarkFile(str(tmp_path / name), name))
    assert (check.state, check.failure) == ("failed", "benchmark_unreadable")
    assert name in check.error
    assert str(tmp_path) not in check.error
    assert contamination_of(snapshot) == []


def test_only_managers_check_and_only_one_file(manager, snapshot, tmp_path):
    with pytest.raises(Forbidden):
        request_check(by=MembershipFactory(project=snapshot.project).user, snapshot=snapshot, benchmark=None)
    with pytest.raises(DomainError, match="at most 1"):
        find_benchmark("disk", "")
    with pytest.raises(Missing):
        find_benchmark("attic", "b.jsonl")


def test_a_check_over_the_api(manager, snapshot):
    api = api_of(manager)
    address = f"/api/v1/snapshots/{snapshot.pk}/contamination-checks/"
    started = api.post(address, {"storage": "disk", "path": "bench.jsonl.gz"}, format="json")
    assert (started.status_code, started.json()["result"]) == (202, None)
    run_check(started.json()["id"])
    [listed] = api.get(address).json()["results"]
    assert listed == api.get(f"/api/v1/projects/project/jobs/overlap/{listed['id']}/").json()
    assert listed["result"]["problems"]["found"] == 2
    assert api.post(address, {"storage": "disk", "path": "no.jsonl"}, format="json").status_code == 404
    upload = Upload.objects.create(project=snapshot.project, by=manager, filename="b.jsonl", size=5)
    unfinished = api.post(address, {"upload": str(upload.pk)}, format="json")
    assert (unfinished.status_code, unfinished.json()["code"]) == (400, "upload_unfinished")


def test_a_check_on_the_page(manager, snapshot, client, tmp_path):
    client.force_login(manager)
    page = reverse("contamination", args=["project", snapshot.pk])
    with (tmp_path / "bench.jsonl.gz").open("rb") as file:
        assert client.post(page, {"file": file}).status_code == 302
    check = ContaminationCheck.objects.get()
    run_check(check.pk)
    shown = client.get(page).content.decode()
    assert "bench.jsonl.gz" in shown
    assert "2 of 3" in shown
    assert LONG[:40] in shown
    assert client.post(page, {}).status_code == 302
    assert ContaminationCheck.objects.count() == 2
