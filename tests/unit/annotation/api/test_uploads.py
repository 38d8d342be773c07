"""Uploads over the API, as clients of the tus protocol send them."""

import base64
import hashlib
import json

import pytest
from django.test import Client

from annotation.files.import_body import run_import
from annotation.models import ImportJob, Upload

CONTENT = b"".join(json.dumps({"problem": f"p{'i' * n}", "steps": ["a"]}).encode() + b"\n" for n in range(9))
SIZE = len(CONTENT)
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def client(manager, monkeypatch):
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)
    client = Client()
    client.force_login(manager)
    return client


def begin(client, project, size=SIZE, name="ä.jsonl"):
    metadata = (
        f"filename {base64.b64encode(name.encode()).decode()},fingerprint {base64.b64encode('ä:1'.encode()).decode()}"
    )
    headers = TUS | {"Upload-Length": str(size), "Upload-Metadata": metadata}
    return client.post(f"/api/v1/projects/{project.slug}/uploads/", headers=headers)


def patch(client, url, offset, body, **headers):
    headers = TUS | {"Upload-Offset": str(offset)} | headers
    return client.patch(url, body, content_type="application/offset+octet-stream", headers=headers)


def test_a_file_goes_up_in_pieces_and_becomes_an_import(client, project):
    answer = begin(client, project)
    assert (answer.status_code, answer.headers["Tus-Resumable"]) == (201, "1.0.0")
    url = answer.headers["Location"].removeprefix("http://testserver")
    digest = base64.b64encode(hashlib.sha256(CONTENT[:50]).digest()).decode()
    answer = patch(client, url, 0, CONTENT[:50], **{"Upload-Checksum": f"sha256 {digest}"})
    assert (answer.status_code, answer.headers["Upload-Offset"]) == (204, "50")
    [listed] = client.get(f"/api/v1/projects/{project.slug}/uploads/").json()
    assert (listed["filename"], listed["fingerprint"], listed["offset"]) == ("ä.jsonl", "ä:1", 50)
    answer = client.head(url, headers=TUS)
    assert (answer.headers["Upload-Offset"], answer.headers["Upload-Length"]) == ("50", str(len(CONTENT)))
    assert answer.headers["Cache-Control"] == "no-store"
    assert patch(client, url, 50, CONTENT[50:]).status_code == 204
    body = {"uploads": [listed["id"]]}
    started = client.post(f"/api/v1/projects/{project.slug}/import-groups/", body, content_type="application/json")
    assert (started.status_code, started.json()["group"]) == (202, None)
    run_import(started.json()["imports"][0]["id"])
    assert ImportJob.objects.get().accepted == 9


@pytest.mark.parametrize(
    ("offset", "body", "headers", "status", "code"),
    [
        (5, b"x", {}, 409, "wrong_offset"),
        (0, b"x" * 5000, {}, 413, "upload_too_long"),
        (0, b"x", {"Upload-Checksum": "sha256 AAAA"}, 460, "checksum_mismatch"),
        (0, b"x", {"Upload-Checksum": "md5 AAAA"}, 400, "unknown_checksum"),
        (0, b"x", {"Upload-Checksum": "sha256 ?"}, 400, "invalid"),
        (0, b"x", {"Upload-Checksum": "sha256 ä"}, 400, "invalid"),
        ("-1", b"x", {}, 400, "invalid"),
    ],
)
def test_each_wrong_piece_has_its_answer_and_changes_nothing(client, project, offset, body, headers, status, code):
    url = begin(client, project).headers["Location"].removeprefix("http://testserver")
    answer = patch(client, url, offset, body, **headers)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert Upload.objects.get().offset == 0


def test_limits_are_told_beforehand_and_held(client, project, settings):
    settings.MAX_UPLOAD_BYTES = 100
    answer = client.options(f"/api/v1/projects/{project.slug}/uploads/")
    assert (answer.headers["Tus-Max-Size"], answer.headers["Tus-Version"]) == ("100", "1.0.0")
    assert begin(client, project, 101).status_code == 413
    assert begin(client, project, "many").status_code == 400


def test_an_upload_is_given_up(client, project):
    url = begin(client, project).headers["Location"].removeprefix("http://testserver")
    assert client.delete(url, headers=TUS).status_code == 204
    assert client.head(url, headers=TUS).status_code == 404


def test_several_files_are_one_group(client, project, settings, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(CONTENT)
    settings.IMPORT_ROOTS = {"disk": {"url": f"file://{tmp_path}", "options": {"key": "secret"}}}
    roots = client.get(f"/api/v1/projects/{project.slug}/import-roots/").json()
    assert roots == [{"name": "disk", "url": f"file://{tmp_path}"}]
    url = f"/api/v1/projects/{project.slug}/import-groups/"
    started = client.post(url, {"storage": "disk", "path": "*.jsonl"}, content_type="application/json").json()
    for job in started["imports"]:
        run_import(job["id"])
    group = client.get(f"/api/v1/import-groups/{started['group']}/").json()
    assert group["summary"]["files"] == len(group["imports"]) == 2
    assert (group["summary"]["accepted"], group["summary"]["duplicates"], group["summary"]["live"]) == (9, 9, 0)
    for wrong in ({}, {"storage": "disk", "uploads": ["0" * 32]}, {"storage": "disk", "path": "../x"}):
        assert client.post(url, wrong, content_type="application/json").status_code == 400
    assert client.post(url, {"storage": "none"}, content_type="application/json").status_code == 404
