"""Files on this machine and in storages; and nothing outside of what the operator allows."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import pyarrow
import pytest
from pyarrow import parquet

from annotation.core.errors import DomainError, Missing
from annotation.core.lifecycle import cancel_job
from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, cancel_group, import_from_root, import_places
from annotation.files.places import find_files, place_below
from annotation.models import ImportJob, Solution


def lines(*numbers):
    return b"".join(json.dumps({"problem": f"p{'i' * n}", "steps": ["a", "b"]}).encode() + b"\n" for n in numbers)


def table(*numbers):
    sink = pyarrow.BufferOutputStream()
    columns = {"problem": [f"p{'i' * n}" for n in numbers], "steps": [["a", "b"]] * len(numbers)}
    parquet.write_table(pyarrow.table(columns), sink, row_group_size=2)
    return sink.getvalue().to_pybytes()


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: None)


@pytest.fixture
def storage(settings):
    """A storage in memory with a root `runs` and something beside it."""
    fs = fsspec.filesystem("memory")
    files = {
        "bucket/runs/a.jsonl": lines(1, 2),
        "bucket/runs/deep/b.jsonl.gz": gzip.compress(lines(2, 3, 4)),
        "bucket/runs/deep/c.parquet": table(4, 5, 6, 7),
        "bucket/runs/.hidden": b"x",
        "bucket/secret.jsonl": lines(9),
    }
    for path, content in files.items():
        fs.pipe(f"/{path}", content)
    settings.IMPORT_ROOTS = {"runs": {"url": "memory://bucket/runs"}}
    yield
    fs.rm("/bucket", recursive=True)


def run_all(jobs):
    for job in jobs:
        run_import(job.pk)
        job.refresh_from_db()
    return [(job.state, job.error, job.accepted, job.duplicates) for job in jobs]


def test_a_folder_of_a_storage_comes_in_packed_and_parquet_files_too(storage, project, manager):
    jobs = import_from_root(by=manager, project=project, root="runs", path="", manner=Manner())
    assert run_all(jobs) == [("done", "", 2, 0), ("done", "", 2, 1), ("done", "", 3, 1)]
    assert Solution.objects.count() == 7
    assert all(job.path.startswith("memory://") for job in jobs)
    assert all(job.done_bytes == job.total_bytes for job in jobs)


@pytest.mark.parametrize(
    ("path", "names"), [("deep/*.gz", ["b.jsonl.gz"]), ("a.jsonl", ["a.jsonl"]), ("deep", ["b.jsonl.gz", "c.parquet"])]
)
def test_a_path_is_a_file_a_folder_or_a_pattern(storage, path, names):
    assert [file.rsplit("/", 1)[1] for file in find_files(place_below("runs", path), below="runs")] == names


@pytest.mark.parametrize("path", ["../secret.jsonl", "deep/../../secret.jsonl", "a::file:///etc/passwd", "a\0"])
def test_nothing_outside_of_a_root_can_be_named(storage, project, manager, path):
    with pytest.raises(DomainError) as raised:
        import_from_root(by=manager, project=project, root="runs", path=path, manner=Manner())
    assert raised.value.code == "bad_path"
    with pytest.raises(Missing):
        import_from_root(by=manager, project=project, root="other", path="a.jsonl", manner=Manner())
    with pytest.raises(Missing):
        import_from_root(by=manager, project=project, root="runs", path="none.jsonl", manner=Manner())


def test_links_do_not_lead_out_of_a_root(settings, tmp_path, project, manager):
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.jsonl").write_bytes(lines(1))
    (tmp_path / "secret.jsonl").write_bytes(lines(2))
    (tmp_path / "root/link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    settings.IMPORT_ROOTS = {"disk": {"url": f"file://{tmp_path}/root"}}
    jobs = import_from_root(by=manager, project=project, root="disk", path="", manner=Manner())
    assert [job.filename for job in jobs] == ["a.jsonl"]
    with pytest.raises(Missing):
        import_from_root(by=manager, project=project, root="disk", path="link.jsonl", manner=Manner())
    assert run_all(jobs) == [("done", "", 1, 0)]
    assert (tmp_path / "root/a.jsonl").exists()


@pytest.fixture
def site():
    """A site on this machine that serves ranges, until it is told to fail."""

    class Handler(BaseHTTPRequestHandler):
        content = lines(*range(1, 200)).replace(b'"a"', b'"' + b"a" * 3000 + b'"')
        failing_after = 10**9

        def do_HEAD(self):
            self.answer(b"", len(self.content))

        def do_GET(self):
            first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            body = self.content[int(first) : int(last or len(self.content)) + 1]
            if int(first) >= self.failing_after:
                self.send_error(503)
                return
            self.answer(body, len(body), int(first))

        def answer(self, body, length, first=0):
            self.send_response(206 if self.headers.get("Range") else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(length))
            if self.headers.get("Range"):
                self.send_header("Content-Range", f"bytes {first}-{first + length - 1}/{len(self.content)}")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Handler, f"http://127.0.0.1:{server.server_port}/files"
    server.shutdown()


def test_a_site_is_read_by_ranges_and_its_failure_is_told(site, project, settings, manager):
    handler, url = site
    settings.IMPORT_ROOTS = {"site": {"url": url, "options": {"block_size": 65536}}}
    jobs = import_from_root(by=manager, project=project, root="site", path="a.jsonl", manner=Manner())
    handler.failing_after = len(handler.content) // 2
    [(state, error, *_)] = run_all(jobs)
    assert state == "failed"
    assert "cannot be read" in error
    handler.failing_after = 10**9
    ImportJob.objects.update(state="queued")
    assert run_all(jobs)[0][0] == "done"
    assert Solution.objects.count() == 199
    for path in ("%2e%2e/secret", "a?b", "a#b"):
        with pytest.raises(DomainError):
            place_below("site", path)


def test_credentials_of_a_root_stay_out_of_the_database(storage, project, manager, settings, monkeypatch):
    opened = []
    real = fsspec.core.url_to_fs
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda url, **given: opened.append(given) or real(url))
    settings.IMPORT_ROOTS["runs"]["options"] = {"secret": "hidden"}
    jobs = import_from_root(by=manager, project=project, root="runs", path="a.jsonl", manner=Manner())
    assert run_all(jobs)[0][0] == "done"
    assert all(given == {"secret": "hidden"} for given in opened)
    assert "hidden" not in str(ImportJob.objects.values())


def test_what_the_shell_names_needs_no_root(project, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(1))
    fsspec.filesystem("memory").pipe("/elsewhere/b.jsonl", lines(2))
    files = [*find_files(str(tmp_path)), *find_files("memory://elsewhere/*.jsonl")]
    jobs = import_places(by=None, project=project, files=[(f, f) for f in files], manner=Manner(), name="both")
    assert run_all(jobs) == [("done", "", 1, 0)] * 2
    with pytest.raises(DomainError):
        find_files("nosuchprotocol://a")


def test_a_file_that_came_in_meanwhile_keeps_no_other_from_being_stopped(storage, project, manager, monkeypatch):
    jobs = import_from_root(by=manager, project=project, root="runs", path="", manner=Manner())
    last = jobs[-1]

    def cancel(*, by, job):
        ImportJob.objects.filter(pk=last.pk).update(state=ImportJob.State.DONE)
        return cancel_job(by=by, job=job)

    monkeypatch.setattr("annotation.files.import_jobs.cancel_job", cancel)
    cancel_group(by=manager, group=last.group)
    assert list(last.group.jobs.order_by("pk").values_list("state", flat=True)) == ["cancelled", "cancelled", "done"]
