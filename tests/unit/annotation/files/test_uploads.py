"""Files that come in pieces: what has arrived is never lost, doubled or left lying about."""

import hashlib
import json
import os
import shutil
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.core import storage
from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.core.membership.members import add_member
from annotation.files import uploads
from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, import_files, import_uploads, summary_of
from annotation.files.uploads import append_piece, begin_upload, discard_upload, find_upload, sweep_uploads
from annotation.models import ImportJob, Solution, Upload
from tests.waiting import is_waited_for, until

CONTENT = b"".join(json.dumps({"problem": f"p{'i' * n}", "steps": ["a"]}).encode() + b"\n" for n in range(20))


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)


@pytest.fixture
def begun(project, manager):
    return begin_upload(by=manager, project=project, filename="a.jsonl", size=len(CONTENT))


def path_of(upload):
    return storage.path_of(upload.key)


def append(upload, manager, offset, *pieces, **named):
    return append_piece(by=manager, upload=upload.pk, offset=offset, pieces=pieces, **named).offset


def test_pieces_make_the_file_and_the_file_an_import(begun, manager, project):
    assert append(begun, manager, 0, CONTENT[:7], CONTENT[7:100]) == 100
    assert append(begun, manager, 100) == 100
    with pytest.raises(DomainError, match="Only 100 of"):
        import_uploads(by=manager, project=project, uploads=[begun.pk], manner=Manner())
    assert append(begun, manager, 100, CONTENT[100:]) == len(CONTENT)
    [job] = import_uploads(by=manager, project=project, uploads=[begun.pk], manner=Manner())
    run_import(job.pk)
    assert (Solution.objects.count(), Upload.objects.count(), job.group) == (20, 0, None)


def test_a_cut_connection_keeps_what_came_and_says_where_to_go_on(begun, manager):
    def cut():
        yield CONTENT[:50]
        raise ConnectionError

    assert append_piece(by=manager, upload=begun.pk, offset=0, pieces=cut()).offset == 50
    with pytest.raises(Conflict) as raised:
        append(begun, manager, 0, CONTENT)
    assert raised.value.extra == {"offset": 50}
    assert append(begun, manager, 50, CONTENT[50:]) == len(CONTENT)
    assert path_of(begun).read_bytes() == CONTENT


def test_what_a_killed_process_had_written_beyond_its_word_is_written_again(begun, manager):
    append(begun, manager, 0, CONTENT[:50])
    with path_of(begun).open("ab") as file:
        file.write(b"half of the next piece")
    append(begun, manager, 50, CONTENT[50:])
    assert path_of(begun).read_bytes() == CONTENT


@pytest.mark.parametrize("algorithm", uploads.CHECKSUMS)
def test_a_piece_that_is_not_what_its_checksum_says_is_not_kept(begun, manager, algorithm):
    digest = hashlib.new(algorithm, CONTENT[:50]).digest()
    with pytest.raises(DomainError, match="damaged"):
        append(begun, manager, 0, CONTENT[1:51], checksum=(algorithm, digest))
    assert append(begun, manager, 0, CONTENT[:50], checksum=(algorithm, digest)) == 50
    with pytest.raises(DomainError, match="checksum of type"):
        append(begun, manager, 50, b"", checksum=("crc32", b""))


def test_no_more_comes_in_than_was_announced_or_is_allowed(begun, manager, project, settings):
    with pytest.raises(DomainError) as raised:
        append(begun, manager, 0, CONTENT, b"x")
    assert (raised.value.code, raised.value.status) == ("upload_too_long", 413)
    begun.refresh_from_db()
    assert begun.offset == 0
    settings.MAX_UPLOAD_BYTES = 1000
    for attempt in (
        lambda: begin_upload(by=manager, project=project, filename="b", size=1001),
        lambda: import_files(by=manager, project=project, files=[("b", [b"x" * 600] * 2)], manner=Manner()),
    ):
        with pytest.raises(DomainError, match="larger than the upload limit"):
            attempt()
    assert [path.name for path in (settings.STATE_ROOT / "uploads").iterdir()] == [begun.id.hex]


def test_a_full_disk_is_told_at_the_beginning_and_in_the_middle(begun, manager, project, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**6))
    with pytest.raises(DomainError) as raised:
        begin_upload(by=manager, project=project, filename="b", size=10**6)
    assert (raised.value.code, raised.value.status) == ("disk_full", 507)

    def fill(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fill)
        with pytest.raises(DomainError, match="disk has no space"):
            append(begun, manager, 0, CONTENT)
        with pytest.raises(DomainError, match="disk has no space"):
            import_files(by=manager, project=project, files=[("b", [CONTENT])], manner=Manner())
    assert append(begun, manager, 0, CONTENT) == len(CONTENT)


def test_two_requests_never_write_at_once(begun, manager):
    def meanwhile():
        yield CONTENT[:10]
        with pytest.raises(DomainError, match="Another request"):
            append(begun, manager, 0, CONTENT)
        yield CONTENT[10:]

    assert append_piece(by=manager, upload=begun.pk, offset=0, pieces=meanwhile()).offset == len(CONTENT)


def test_an_upload_that_is_discarded_while_a_piece_comes_is_gone(begun, manager):
    def discarding():
        yield CONTENT[:10]
        discard_upload(by=manager, upload=begun.pk)

    with pytest.raises(Missing, match="no upload"):
        append_piece(by=manager, upload=begun.pk, offset=0, pieces=discarding())


def test_an_upload_that_was_imported_while_a_piece_waited_is_gone(begun, manager, monkeypatch):
    writing = uploads._writing

    def import_first(upload):
        Upload.objects.filter(pk=upload.pk).delete()
        return writing(upload)

    monkeypatch.setattr(uploads, "_writing", import_first)
    with pytest.raises(Missing, match="no upload"):
        append(begun, manager, 0, CONTENT)


def test_an_upload_named_twice_is_imported_once(begun, manager, project):
    append(begun, manager, 0, CONTENT)
    import_uploads(by=manager, project=project, uploads=[begun.pk, begun.pk], manner=Manner())
    assert ImportJob.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_requests_import_an_upload_once(begun, manager, project):
    append(begun, manager, 0, CONTENT)

    def import_it():
        try:
            return import_uploads(by=manager, project=project, uploads=[begun.pk], manner=Manner())
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            import_uploads(by=manager, project=project, uploads=[begun.pk], manner=Manner())
            second = pool.submit(import_it)
            until(is_waited_for)
        with pytest.raises(Missing, match="no upload"):
            second.result()
    assert ImportJob.objects.count() == 1


def test_an_upload_is_its_senders_alone(begun, manager, project):
    other = User.objects.create_user("other")
    with pytest.raises(Missing):
        find_upload(by=other, upload=begun.pk)
    add_member(by=manager, project=project, user=other, role="reviewer")
    with pytest.raises(Forbidden):
        begin_upload(by=other, project=project, filename="b", size=1)
    with pytest.raises(Missing):
        import_uploads(by=other, project=project, uploads=[begun.pk], manner=Manner())


def test_giving_up_frees_the_disk(begun, manager, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        discard_upload(by=manager, upload=begun.pk)
    assert not path_of(begun).exists()
    with pytest.raises(Missing):
        append(begun, manager, 0, CONTENT)


def test_abandoned_uploads_and_files_of_nothing_are_swept(begun, manager, project, settings):
    fresh = begin_upload(by=manager, project=project, filename="b", size=1)
    live, orphan = (settings.STATE_ROOT / "uploads" / name for name in ("1" * 32, "2" * 32))
    foreign = settings.STATE_ROOT / "uploads" / "lost+found"
    for path in (live, orphan, foreign):
        path.write_bytes(b"x")
    ImportJob.objects.create(project=project, filename="f", path=f"stored:uploads/{live.name}", state="running")
    long_ago = timezone.now() - uploads.ABANDONED_AFTER - timedelta(minutes=1)
    for path in (path_of(begun), live, orphan, foreign):
        os.utime(path, (long_ago.timestamp(),) * 2)
    Upload.objects.filter(pk=begun.pk).update(touched_at=long_ago)
    assert sweep_uploads() == 2
    left = sorted([fresh.id.hex, live.name, foreign.name])
    assert sorted(path.name for path in (settings.STATE_ROOT / "uploads").iterdir()) == left
    assert sweep_uploads() == 0


def test_an_upload_that_is_imported_during_the_sweep_keeps_its_file(begun, manager, project, monkeypatch):
    begin_upload(by=manager, project=project, filename="b", size=1)
    append(begun, manager, 0, CONTENT)
    Upload.objects.update(touched_at=timezone.now() - uploads.ABANDONED_AFTER - timedelta(minutes=1))
    remove, jobs = storage.remove, []

    def import_before(key):
        if not jobs:
            jobs.extend(import_uploads(by=manager, project=project, uploads=[begun.pk], manner=Manner()))
        remove(key)

    monkeypatch.setattr(storage, "remove", import_before)
    assert sweep_uploads() == 1
    run_import(jobs[0].pk)
    assert Solution.objects.count() == 20


def test_files_together_run_one_after_the_other_and_each_keeps_its_report(project, manager, monkeypatch):
    started = []
    files = {
        "d/a.jsonl": CONTENT,
        "d/README": b"# hello",
        "d/b.jsonl": b"".join(CONTENT.splitlines(True)[:5]) + b"{}\n{}",
    }
    ids = []
    for name, content in files.items():
        upload = begin_upload(by=manager, project=project, filename=name, size=len(content))
        append(upload, manager, 0, content)
        ids.append(upload.pk)
    jobs = import_uploads(by=manager, project=project, uploads=ids, manner=Manner(), name="d")
    assert [job.filename for job in jobs] == ["d/a.jsonl", "d/b.jsonl"]
    group = jobs[0].group
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda task, job, **_: started.append(job))
    run_import(jobs[0].pk)
    assert started == [jobs[1].pk]
    run_import(jobs[1].pk)
    summary = summary_of(group)
    assert (summary["files"], summary["live"], summary["failed"]) == (3, 0, 1)
    assert (summary["accepted"], summary["duplicates"]) == (20, 5)
    assert summary["rejected"] == 2
    assert "Stepmark cannot read d/README." in group.jobs.get(state="failed").error
