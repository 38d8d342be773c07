"""Imports, snapshots and their downloads over HTTP."""

import io
import json
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.core.membership.members import add_member
from annotation.files.import_body import run_import
from annotation.files.record_import import import_records
from annotation.labels.datasets.export_jobs import run_export
from annotation.models import ImportJob, Problem, Snapshot
from prm.formats.trl import trl
from tests.api_client import api_of

LINE = {"problem": "p", "steps": ["a", "b"], "label": 1, "id": "x"}


@pytest.fixture
def api(manager, project):
    return api_of(manager)


@pytest.fixture
def annotator(manager, project):
    user = User.objects.create_user("annotator")
    add_member(by=manager, project=project, user=user, role="annotator")
    return api_of(user)


def job_address(job):
    return f"/api/v1/projects/project/jobs/import/{job}/"


def upload(api, content, **fields):
    file = SimpleUploadedFile("file.jsonl", content)
    return api.post("/api/v1/projects/project/imports/", {"file": file, **fields}, format="multipart")


def test_options_of_an_import_are_checked_and_its_warnings_are_told(api):
    lines = b"\n".join(json.dumps(LINE | {"label": label, "steps": ["a", ""], "id": ""}).encode() for label in (0, 1))
    for options in ('{"empty_steps": "drop"}', '{"colour": "red"}', "[]"):
        refused = upload(api, lines, options=options)
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_options")
    started = upload(api, lines, options=json.dumps({"labelled_by": "heuristic"}))
    run_import(started.json()["id"])
    warnings = api.get(job_address(started.json()["id"])).json()["warnings"]
    assert any("neither names its annotator" in warning for warning in warnings)
    assert any("2 steps (2 solutions) have no text" in warning for warning in warnings)
    assert ImportJob.objects.get().options == {"labelled_by": "heuristic"}


def body(response):
    return b"".join(response.streaming_content)


def freeze(api, filters):
    """The job of an export without files, at its end."""
    started = api.post("/api/v1/projects/project/exports/", {"filters": filters}, format="json").json()
    run_export(started["id"])
    return api.get(f"/api/v1/projects/project/jobs/export/{started['id']}/").json()


def test_upload_watch_freeze_download(api):
    started = upload(api, json.dumps(LINE).encode() + b"\n{}\n")
    assert started.status_code == 202
    assert (started.json()["state"], started.json()["format"]) == ("queued", "processbench")
    where = job_address(started.json()["id"])
    run_import(started.json()["id"])
    done = api.get(where).json()
    assert (done["state"], done["accepted"], done["rejected"]) == ("done", 1, 1)
    assert done["progress"]["share"] == 1
    assert [job["id"] for job in api.get("/api/v1/projects/project/imports/").json()["results"]] == [done["id"]]
    refused = api.get(where + "rejections/")
    assert refused["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line)["line"] for line in body(refused).splitlines()] == [2]
    assert api.post(where + "cancel/").json()["code"] == "job_over"

    where = f"/api/v1/snapshots/{freeze(api, {'source_kinds': ['consensus']})['snapshot']}/"
    frozen = api.get(where).json()
    assert frozen["counts"]["solutions"] == 1
    assert api.get("/api/v1/projects/project/snapshots/").json()["results"] == [frozen]
    trl = api.get(where + "download/?format=trl&neutral=drop")
    assert json.loads(body(trl)) == {"prompt": "p", "completions": ["a", "b"], "labels": [True, False]}
    sha = frozen["sha256"][:12]
    assert trl["Content-Disposition"] == f'attachment; filename="project-{sha}-trl.jsonl"'
    native = json.loads(body(api.get(where + "download/")))
    assert native["label"]["finish_reason"] == "found_error"
    card = api.get(where + "card/?neutral=drop")
    assert card["Content-Type"].startswith("text/markdown")
    assert "Neutral steps end the line" in card.content.decode()


@pytest.mark.parametrize(
    ("content", "fields", "code"),
    [
        (b"", {}, "unknown_format"),
        (b"a,b\n", {}, "unknown_format"),
        (b"{}", {"format": "csv"}, "invalid"),
        (b"{}", {"decomposition": "words"}, "invalid"),
    ],
)
def test_bad_uploads(api, content, fields, code):
    answer = upload(api, content, **fields)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not ImportJob.objects.exists()


def test_bad_requests(api):
    project = "/api/v1/projects/project"
    assert api.post(f"{project}/imports/", {}, format="multipart").json()["extra"]["field"] == "file"
    assert api.post(f"{project}/exports/", {"filters": {"splits": ["x"]}}).json()["code"] == "invalid_filters"
    assert api.post(f"{project}/exports/", {"filters": []}).json()["extra"]["field"] == "filters"
    assert api.post(f"{project}/snapshots/", {"filters": {}}).status_code == 405
    assert freeze(api, {})["failure"] == "nothing_to_snapshot"
    assert api.get(job_address(99)).status_code == 404
    assert api.get(f"/api/v1/snapshots/{10**30}/").status_code == 404


def test_bad_downloads(api, project):
    counts = {"splits": {"pool": 1}}
    snapshot = Snapshot.objects.create(project=project, sha256="0" * 64, path="gone.jsonl", counts=counts)
    where = f"/api/v1/snapshots/{snapshot.pk}/download/"
    assert api.get(where + "?format=xml").json()["extra"]["field"] == "format"
    assert api.get(where + "?splits=test").json()["extra"]["field"].startswith("splits")
    assert api.get(where + "?format=trl&neutral=x").json()["extra"]["field"] == "neutral"
    assert api.get(where).json()["code"] == "snapshot_file_missing"


def test_a_download_tells_what_it_leaves_out_and_refuses_an_empty_file(api, project):
    problems = [f"problem {'x' * n}" for n in range(40)]
    lines = [{"prompt": problem, "completions": ["a", "b"], "labels": [True, False]} for problem in problems]
    import_records(
        project=project,
        records=[record for _, record in trl.read(io.BytesIO("\n".join(map(json.dumps, lines)).encode()))],
        by=None,
    )
    splits = Counter(Problem.objects.values_list("split", flat=True))
    where = f"/api/v1/snapshots/{freeze(api, {})['snapshot']}/"
    made = api.get(where).json()
    told = {one["format"]: one for one in made["exports"]}
    assert (told["trl"]["splits"], told["trl"]["solutions"]) == (["pool"], splits["pool"])
    assert told["trl"]["left_out"] == {name: splits[name] for name in ("calibration", "holdout")}
    assert told["csv"]["left_out"] == {}
    assert len(body(api.get(where + "download/?format=trl")).splitlines()) == splits["pool"]
    held = api.get(where + "download/?format=trl&splits=holdout&splits=calibration")
    assert len(body(held).splitlines()) == 40 - splits["pool"]
    assert f"{splits['holdout']} holdout solutions" in api.get(where + "card/").content.decode()
    none = freeze(api, {"splits": ["holdout"]})["snapshot"]
    refused = api.get(f"/api/v1/snapshots/{none}/download/?format=trl&splits=pool")
    assert (refused.status_code, refused.json()["code"]) == (400, "empty_export")
    assert refused.json()["extra"] == {"left_out": {"holdout": splits["holdout"]}}


def test_who_may(api, annotator, project):
    job = ImportJob.objects.create(project=project, filename="f", path="f")
    snapshot = Snapshot.objects.create(project=project, sha256="0" * 64, path="gone.jsonl", counts={})
    assert upload(annotator, b"{}").status_code == 403
    assert annotator.post("/api/v1/projects/project/exports/", {}).status_code == 403
    assert annotator.get(job_address(job.pk)).status_code == 403
    assert annotator.get(job_address(job.pk) + "rejections/").status_code == 403
    assert annotator.post(job_address(job.pk) + "cancel/").status_code == 403
    assert annotator.get(f"/api/v1/snapshots/{snapshot.pk}/").status_code == 403
    assert annotator.get(f"/api/v1/snapshots/{snapshot.pk}/download/").status_code == 403
    stranger = api_of(User.objects.create_user("stranger"))
    assert stranger.get(job_address(job.pk)).status_code == 404
    assert stranger.get(f"/api/v1/snapshots/{snapshot.pk}/card/").status_code == 404


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\x7fELF\x02\x01\x01\0\0\n\0", "Aufgabe;Lösung\na;b".encode("latin-1")],
    ids=["PNG", "ELF", "Latin-1"],
)
@pytest.mark.parametrize("format", ["auto", "table"])
def test_an_upload_that_is_no_text_is_refused_and_leaves_no_file(api, settings, content, format):
    refused = upload(api, content, format=format)
    binary = b"\0" in content and format == "auto"
    code, sentence = ("unknown_format", "cannot read") if binary else ("unreadable_file", "the first row is not UTF-8")
    assert (refused.status_code, refused.json()["code"]) == (400, code)
    assert sentence in refused.json()["message"]
    assert not list((settings.STATE_ROOT / "uploads").glob("*"))
