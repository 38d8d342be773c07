"""Exports over the API: asked for, watched, scheduled; and every download is in the audit log."""

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.files.record_import import import_records
from annotation.labels.datasets.export_jobs import run_export
from annotation.labels.datasets.export_schedules import start_due_exports
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import AuditEntry
from tests.api_client import api_of
from tests.factories import MembershipFactory, SnapshotFactory
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution

HERE = "/api/v1/projects/project/"


@pytest.fixture
def api(manager, project, settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    settings.EXPORT_ROOTS = {"disk": {"url": f"file://{tmp_path}/exports", "options": {"key": "hidden"}}}
    import_records(project=project, records=[solution("p", rated(1, 1))], by=None)
    return api_of(manager)


def test_an_export_is_asked_for_and_watched_to_its_end(api, tmp_path):
    assert api.get(f"{HERE}export-roots/").json() == [{"name": "disk", "url": f"file://{tmp_path}/exports"}]
    asked = {"formats": ["records", "csv"], "place": {"root": "disk", "path": "a"}, "filters": {"text": "p"}}
    asked |= {"preset": "archive"}
    started = api.post(f"{HERE}exports/", asked, format="json")
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    run_export(started.json()["id"])
    found = api.get(f"{HERE}jobs/export/{started.json()['id']}/").json()
    assert (found["state"], found["error"], found["done"], found["schedule"]) == ("done", "", 1, None)
    assert {file.name for file in (tmp_path / "exports/a").iterdir()} == set(found["files"])
    assert api.get(f"/api/v1/snapshots/{found['snapshot']}/").json()["filters"]["text"] == "p"
    assert found["filters"]["revisions"] == "all"
    assert api.get(f"{HERE}exports/").json()["results"] == [found]


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"formats": ["pdf"], "place": {"root": "disk"}}, 400, "unknown_format"),
        ({"formats": ["csv"]}, 400, "export_incomplete"),
        ({"formats": ["csv"], "place": {"root": "attic"}}, 404, "import_root_not_found"),
        ({"snapshot": 10**6, "formats": ["csv"], "place": {"root": "disk"}}, 404, "snapshot_not_found"),
        ({"options": {"neutral": "maybe"}}, 400, "invalid"),
    ],
)
def test_what_cannot_be_exported_is_refused(api, asked, status, code):
    answer = api.post(f"{HERE}exports/", asked, format="json")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_schedule_is_made_paused_and_deleted(api):
    wanted = {"name": "Daily", "formats": ["records"], "place": {"root": "disk"}, "every_days": 1}
    made = api.post(f"{HERE}export-schedules/", wanted, format="json")
    assert (made.status_code, made.json()["active"], made.json()["last"]) == (201, True, None)
    assert start_due_exports() == 1
    [listed] = api.get(f"{HERE}export-schedules/").json()["results"]
    assert (listed["last"]["state"], listed["last"]["schedule"]) == ("queued", listed["id"])
    address = f"/api/v1/export-schedules/{listed['id']}/"
    assert api.patch(address, {"active": False}, format="json").json()["active"] is False
    assert api.delete(address).status_code == 204
    assert api.delete(address).json()["code"] == "export_schedule_not_found"
    assert api.post(f"{HERE}export-schedules/", wanted | {"every_days": None}, format="json").status_code == 400


def test_every_download_is_in_the_audit_log(api, manager, project, client):
    snapshot = create_snapshot(by=manager, project=project, filters={})
    api.get(f"/api/v1/snapshots/{snapshot.pk}/download/?format=csv&splits=pool&splits=holdout&splits=calibration")
    client.force_login(manager)
    client.get(reverse("snapshot-download", args=["project", snapshot.pk, "prm800k"]))
    entries = AuditEntry.objects.filter(action="snapshot.export").order_by("pk")
    assert [(entry.by, entry.after["via"], entry.after["format"]) for entry in entries] == [
        (manager, "api", "csv"),
        (manager, "page", "prm800k"),
    ]
    assert entries[0].after["splits"] == ["pool", "holdout", "calibration"]


def test_the_exports_of_another_project_are_not_shown(api):
    other = SnapshotFactory()
    asked = {"snapshot": other.pk, "formats": ["csv"], "place": {"root": "disk"}}
    assert api.post(f"{HERE}exports/", asked, format="json").status_code == 404
    stranger = api_of(MembershipFactory(project=other.project, role="manager").user)
    assert stranger.get(f"{HERE}exports/").status_code == 404


def test_two_snapshots_are_compared(api, manager, project, capsys, tmp_path):
    old = create_snapshot(by=manager, project=project, filters={})
    import_records(project=project, records=[solution("q", rated(1, 1)), solution("r", rated(1))], by=None)
    new = create_snapshot(by=manager, project=project, filters={})
    found = api.get(f"/api/v1/snapshots/{new.pk}/diff/{old.pk}/?limit=1").json()
    assert (found["old"], found["new"], found["same_labels"]) == (old.sha256, new.sha256, 1)
    assert sum(found["labels"]["added"].values()) == 2
    assert [change["kind"] for change in found["changes"]] == ["added"]
    call_command("diff_snapshots", old.pk, new.pk, out=str(tmp_path / "changes.jsonl"))
    assert "2 added: " in capsys.readouterr().out
    assert len((tmp_path / "changes.jsonl").read_text().splitlines()) == 2
    foreign = SnapshotFactory()
    assert api.get(f"/api/v1/snapshots/{new.pk}/diff/{foreign.pk}/").status_code == 404
    with pytest.raises(CommandError, match="different projects"):
        call_command("diff_snapshots", old.pk, foreign.pk)
    with pytest.raises(CommandError, match="There is no snapshot 0"):
        call_command("diff_snapshots", 0, old.pk)
