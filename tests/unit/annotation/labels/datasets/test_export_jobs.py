"""Exports as jobs: their progress, their files, who may ask for them, and when a schedule is due."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import fsspec
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.files.record_import import import_records
from annotation.labels.datasets.export_jobs import ExportOptions, ExportPlace, request_export, run_export
from annotation.labels.datasets.export_schedules import (
    create_schedule,
    delete_schedule,
    set_schedule_active,
    start_due_exports,
)
from annotation.labels.datasets.snapshot_export import export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import AuditEntry, ExportJob, Snapshot
from tests.factories import MembershipFactory, ModelVersionFactory
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution

DISK, BUCKET = ExportPlace("disk", "sets/a"), ExportPlace("bucket", "sets")


@pytest.fixture(autouse=True)
def sent(monkeypatch, settings, tmp_path):
    settings.STATE_ROOT, messages = tmp_path, []
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: messages.append(task))
    return messages


@pytest.fixture
def roots(settings, tmp_path):
    settings.EXPORT_ROOTS = {
        "disk": {"url": f"file://{tmp_path}/exports"},
        "bucket": {"url": "memory://bucket/exports"},
    }
    yield tmp_path / "exports"
    if fsspec.filesystem("memory").exists("/bucket"):
        fsspec.filesystem("memory").rm("/bucket", recursive=True)


@pytest.fixture
def labelled(project):
    records = [solution(f"p{n}", rated(1, 1)) for n in range(3)]
    records += [solution(f"q{n}", rated(1, -1, finish="found_error")) for n in range(3)]
    import_records(project=project, records=records, by=None)
    return project


def run(job):
    run_export(job.pk)
    job.refresh_from_db()
    return job


def exports(project):
    entries = AuditEntry.objects.filter(project=project, action="snapshot.export").order_by("pk")
    return [(entry.by, entry.after["format"], entry.after["via"], entry.after.get("target")) for entry in entries]


def test_a_job_makes_the_snapshot_and_counts_its_solutions(labelled, manager, sent):
    job = request_export(by=manager, project=labelled, filters={"source_kinds": ["human"]})
    assert sent == [("datasets.export", job.pk)]
    job = run(job)
    assert (job.state, job.error, job.share, job.total, job.done) == ("done", "", 1.0, 6, 6)
    assert job.snapshot == Snapshot.objects.get()
    assert job.snapshot.created_by == manager
    assert job.outcome.startswith("6 labelled solutions")
    assert (job.files, exports(labelled)) == ([], [])


@pytest.mark.django_db(transaction=True)
def test_progress_is_seen_and_cancelling_works_while_the_labels_are_read(labelled, manager, monkeypatch, settings):
    monkeypatch.setattr("annotation.core.lifecycle.BEAT_SECONDS", 0)
    job = request_export(by=manager, project=labelled)
    elsewhere, counts = connection.copy(), []

    def watched(records, collect, on_record):
        for done, record in enumerate(records, start=1):
            on_record(done)
            with elsewhere.cursor() as cursor:
                cursor.execute("SELECT done FROM annotation_exportjob")
                counts.extend(cursor.fetchone())
                cursor.execute("UPDATE annotation_exportjob SET cancel_requested = %s", [done == 3])
            yield record

    monkeypatch.setattr("annotation.labels.datasets.snapshots._watched", watched)
    try:
        assert run(job).state == "cancelled"
    finally:
        elsewhere.close()
    assert counts == [1, 2, 3]
    assert not Snapshot.objects.exists()
    assert not list((settings.STATE_ROOT / "snapshots").iterdir())


def test_a_job_that_finds_nothing_says_so(project, manager, settings):
    job = run(request_export(by=manager, project=project))
    assert (job.state, job.failure) == ("failed", "nothing_to_snapshot")
    assert not (settings.STATE_ROOT / "snapshots").exists()


@pytest.mark.parametrize("place", [DISK, BUCKET], ids=["folder", "object storage"])
def test_the_files_are_where_they_belong(labelled, manager, roots, place):
    options = ExportOptions(splits=["pool", "calibration", "holdout"])
    job = run(request_export(by=manager, project=labelled, formats=["prm800k", "trl"], place=place, options=options))
    assert (job.state, job.error) == ("done", "")
    fs = fsspec.filesystem("file" if place is DISK else "memory")
    folder = roots / "sets/a" if place is DISK else "/bucket/exports/sets"
    written = {name.rsplit("/", 1)[1]: fs.cat_file(name) for name in fs.find(str(folder))}
    assert sorted(written) == sorted(job.files)
    prm800k, trl, card = job.files
    assert written[prm800k] == b"".join(export_snapshot(job.snapshot, "prm800k"))
    assert written[trl] == b"".join(export_snapshot(job.snapshot, "trl", splits=options.splits))
    assert f"# {labelled.name}: labelled reasoning steps".encode() in written[card]
    assert exports(labelled) == [(manager, name, "job", job.target) for name in ("prm800k", "trl")]
    assert run(job).files == [prm800k, trl, card]


def test_an_existing_snapshot_is_written_as_it_is(labelled, manager, roots):
    snapshot = create_snapshot(by=manager, project=labelled, filters={})
    job = run(request_export(by=manager, project=labelled, snapshot=snapshot, formats=["records"], place=DISK))
    assert (roots / "sets/a" / job.files[0]).read_bytes() == snapshot_file(snapshot).read_bytes()
    assert Snapshot.objects.count() == 1


def test_an_export_mixes_kinds_if_its_options_say_so(project, manager, roots):
    judged = rated(1, 1, name="judge-7b")
    judged.source_kind = "model_judge"
    import_records(project=project, records=[solution("p", rated(1, 1), judged)], by=None)
    named = {"by": manager, "project": project, "formats": ["trl"], "place": DISK}
    splits = ["pool", "calibration", "holdout"]
    assert run(request_export(**named, options=ExportOptions(splits=splits))).state == "failed"
    done = run(request_export(**named, options=ExportOptions(splits=splits, mixed_kinds="allow")))
    assert done.state == "done"
    assert "By request" in next((roots / "sets" / "a").glob("*.md")).read_text()


def test_a_refused_format_writes_no_file(labelled, manager, roots):
    import_records(project=labelled, records=[solution("p0", rated(1, 1, name="j"))], by=None)
    judge = rated(1, 1, name="j")
    judge.source_kind = "model_judge"
    import_records(project=labelled, records=[solution("p0", judge)], by=None)
    job = run(request_export(by=manager, project=labelled, formats=["records", "trl"], place=DISK))
    assert (job.state, job.failure) == ("failed", "mixed_kinds")
    assert not roots.exists()
    assert exports(labelled) == []


def test_a_target_that_cannot_be_written_fails_with_its_reason(labelled, manager, roots):
    roots.parent.joinpath("exports").write_text("a file, not a folder")
    job = run(request_export(by=manager, project=labelled, formats=["records"], place=DISK))
    assert (job.state, job.failure) == ("failed", "target_not_writable")
    assert "File exists" in job.error or "Not a directory" in job.error


def test_credentials_come_from_the_root_and_are_not_stored(labelled, manager, settings, monkeypatch):
    given = []
    real = fsspec.core.url_to_fs
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda url, **options: given.append(options) or real(url))
    settings.EXPORT_ROOTS = {"bucket": {"url": "memory://bucket", "options": {"secret": "hidden"}}}
    job = run(request_export(by=manager, project=labelled, formats=["records"], place=ExportPlace("bucket")))
    assert (job.state, given[0]) == ("done", {"secret": "hidden"})
    assert "hidden" not in str([*ExportJob.objects.values(), *AuditEntry.objects.values()])


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"formats": ["pdf"], "place": DISK}, "unknown_format"),
        ({"formats": ["records"]}, "export_incomplete"),
        ({"place": DISK}, "export_incomplete"),
        ({"filters": {"splits": ["test"]}}, "invalid_filters"),
        ({"formats": ["records"], "place": ExportPlace("disk", "../x")}, "bad_path"),
        ({"formats": ["records"], "place": ExportPlace("attic")}, "import_root_not_found"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_at_once(labelled, manager, roots, named, code):
    with pytest.raises(DomainError) as raised:
        request_export(by=manager, project=labelled, **named)
    assert raised.value.code == code
    assert not ExportJob.objects.exists()


def test_only_managers_export_and_only_their_own_snapshots(labelled, manager, roots):
    annotator = MembershipFactory(project=labelled).user
    with pytest.raises(Forbidden):
        request_export(by=annotator, project=labelled)
    other = MembershipFactory(role="manager")
    snapshot = create_snapshot(by=manager, project=labelled, filters={})
    with pytest.raises(Missing):
        request_export(by=other.user, project=other.project, snapshot=snapshot, formats=["records"], place=DISK)


def test_the_command_writes_to_an_address_or_an_existing_snapshot_to_a_file(labelled, manager, roots, tmp_path):
    call_command("export_snapshot", "memory://bucket/exports/a.jsonl", project=labelled.slug, format="records")
    snapshot = Snapshot.objects.get()
    content, fs = snapshot_file(snapshot).read_bytes(), fsspec.filesystem("memory")
    assert fs.cat_file("/bucket/exports/a.jsonl") == content
    assert b"labelled reasoning steps" in fs.cat_file("/bucket/exports/a.jsonl.md")
    call_command("export_snapshot", tmp_path / "b.jsonl", project=labelled.slug, format="records", snapshot=snapshot.pk)
    assert (tmp_path / "b.jsonl").read_bytes() == content
    targets = [str(target) for *_, target in exports(labelled)]
    assert targets == ["memory://bucket/exports/a.jsonl", str(tmp_path / "b.jsonl")]
    with pytest.raises(CommandError, match="has no snapshot 7"):
        call_command("export_snapshot", tmp_path / "c.jsonl", project=labelled.slug, snapshot=7 * 10**6)


def scheduled(project, by, **named):
    return create_schedule(by=by, project=project, name="Weekly", formats=["records"], place=DISK, **named)


def test_a_schedule_by_days_exports_at_once_and_when_the_days_have_passed(labelled, manager, roots):
    schedule = scheduled(labelled, manager, every_days=7)
    assert start_due_exports() == 1
    assert start_due_exports() == 0, "the first has not ended"
    job = run(schedule.export_jobs.get())
    assert (job.state, job.error, len(list((roots / "sets/a").iterdir()))) == ("done", "", 2)
    assert exports(labelled) == [(None, "records", "schedule", job.target)]
    assert start_due_exports(timezone.now() + timedelta(days=6)) == 0
    assert start_due_exports(timezone.now() + timedelta(days=7)) == 1


def test_a_schedule_after_promotions_exports_once_for_each(labelled, manager, roots):
    schedule = scheduled(labelled, manager, after_promotion=True)
    assert start_due_exports() == 0
    ModelVersionFactory(project=labelled, promoted_at=timezone.now())
    assert start_due_exports() == 1
    run(schedule.export_jobs.get())
    assert start_due_exports() == 0


@pytest.mark.django_db(transaction=True)
def test_a_second_worker_passes_over_an_export_that_is_being_started(labelled, manager, roots):
    scheduled(labelled, manager, every_days=7)

    def start():
        try:
            return start_due_exports()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other, transaction.atomic():
        assert start_due_exports() == 1
        assert other.submit(start).result(timeout=20) == 0, "the first has not committed"
    assert ExportJob.objects.count() == 1


def test_a_schedule_can_pause_and_end(labelled, manager, roots):
    schedule = scheduled(labelled, manager, every_days=1)
    set_schedule_active(by=manager, schedule=schedule, active=False)
    assert start_due_exports() == 0
    set_schedule_active(by=manager, schedule=schedule, active=True)
    assert start_due_exports() == 1
    delete_schedule(by=manager, schedule=schedule)
    assert ExportJob.objects.get().schedule is None
    actions = AuditEntry.objects.filter(action__startswith="export_schedule").order_by("pk")
    assert [entry.action for entry in actions] == [
        f"export_schedule.{what}" for what in ("create", "change", "change", "delete")
    ]


def test_a_root_that_is_gone_fails_the_export_with_the_reason(labelled, manager, roots, settings):
    schedule = scheduled(labelled, manager, every_days=1)
    settings.EXPORT_ROOTS = {}
    assert start_due_exports() == 1
    job = schedule.export_jobs.get()
    assert (job.state, job.failure) == ("failed", "import_root_not_found")
    assert start_due_exports() == 0, "it is tried again when its days have passed"


@pytest.mark.parametrize("named", [{}, {"every_days": 0}, {"every_days": 1000}])
def test_a_schedule_needs_a_time(labelled, manager, roots, named):
    with pytest.raises(DomainError) as raised:
        scheduled(labelled, manager, **named)
    assert raised.value.code == "invalid_schedule"


def test_two_schedules_have_two_names(labelled, manager, roots):
    scheduled(labelled, manager, every_days=1)
    with pytest.raises(Conflict):
        scheduled(labelled, manager, every_days=2)
