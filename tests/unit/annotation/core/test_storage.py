"""Files in a bucket, as two machines see them: two data folders on one bucket in memory."""

import threading

import fsspec
import pytest

from annotation.core import storage
from annotation.core.errors import DomainError

KEY = "models/project-1/run-1"


@pytest.fixture
def bucket(settings):
    """The file system of an empty bucket."""
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    settings.STORAGE_URL, settings.STORAGE_CACHE_BYTES = "memory://bucket/files", 10_000
    yield fs
    fs.store.clear()


@pytest.fixture
def on(settings, tmp_path):
    """A function that makes this process one of the machine `name`."""

    def switch(name):
        settings.STATE_ROOT = tmp_path / name

    switch("a")
    return switch


def write(key, content=b"content"):
    path = storage.path_of(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def content_of(key):
    path = storage.fetch(key)
    if not path.is_dir():
        return path.read_bytes() if path.exists() else None
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def pieces(bucket, key):
    return [path for path in bucket.find(f"/bucket/files/{key}") if not path.endswith(storage.MANIFEST)]


def test_without_a_bucket_a_key_is_a_path_and_nothing_else_is_written(settings, tmp_path):
    settings.STATE_ROOT = tmp_path
    write("snapshots/a")
    storage.publish("snapshots/a")
    with storage.holding():
        assert storage.fetch("snapshots/a") == tmp_path / "snapshots" / "a"
    assert storage.sizes("snapshots/a") == {"": 7}
    assert storage.sizes("snapshots/b") == {}
    assert list(storage.stored_below("snapshots")) == ["a"]
    storage.remove("snapshots/a")
    assert [path.name for path in tmp_path.rglob("*")] == ["snapshots"]


def test_a_folder_of_one_machine_is_on_another_with_its_later_changes(bucket, on):
    for name in ("weights", "checkpoint/state", ".lock", "half.partial"):
        write(f"{KEY}/{name}", name.encode())
    storage.publish(KEY)
    on("b")
    assert content_of(KEY) == {"weights": b"weights", "checkpoint/state": b"checkpoint/state"}
    write(f"{KEY}/weights", b"better")
    storage.path_of(f"{KEY}/checkpoint/state").unlink()
    storage.publish(KEY)
    assert storage.sizes(KEY) == {"weights": 6}
    assert len(pieces(bucket, KEY)) == 1, "the old ones are deleted"
    on("a")
    assert storage.fetch(KEY, "weights") == storage.path_of(KEY)
    assert storage.path_of(f"{KEY}/weights").read_bytes() == b"better"
    assert not storage.path_of(f"{KEY}/checkpoint/state").exists()


def test_nothing_is_read_of_what_is_not_whole(bucket, on, monkeypatch):
    write(f"{KEY}/weights", b"old")
    storage.publish(KEY)
    write(f"{KEY}/weights", b"new")

    def die(key, files):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(storage, "write_manifest", die)
        with pytest.raises(KeyboardInterrupt):
            storage.publish(KEY)
    on("b")
    assert content_of(KEY) == {"weights": b"old"}


def test_a_piece_that_was_changed_is_refused_and_leaves_no_file(bucket, on):
    write("snapshots/a")
    storage.publish("snapshots/a")
    [piece] = pieces(bucket, "snapshots/a")
    bucket.pipe_file(piece, b"changed")
    on("b")
    with pytest.raises(DomainError, match="differs from its recorded hash") as raised:
        storage.fetch("snapshots/a")
    assert raised.value.code == "stored_file_damaged"
    assert list(storage.path_of("snapshots").iterdir()) == []


def test_a_reader_whose_pieces_are_replaced_reads_the_new_ones(bucket, on, monkeypatch):
    write("a", b"old")
    storage.publish("a")
    on("b")
    read, replaced = storage.read_manifest, []

    def replace_after(key):
        stored = read(key)
        if not replaced:
            replaced.append(True)
            on("a")
            write("a", b"new")
            storage.publish("a")
            on("b")
        return stored

    monkeypatch.setattr(storage, "read_manifest", replace_after)
    assert content_of("a") == b"new"


def test_a_worker_taken_for_dead_replaces_nothing_of_its_successor(bucket, on):
    write(f"{KEY}/checkpoint", b"step 1")
    storage.publish(KEY)
    on("b")
    storage.fetch(KEY)
    write(f"{KEY}/checkpoint", b"step 5")
    storage.publish(KEY)
    on("a")
    write(f"{KEY}/checkpoint", b"step 3")
    storage.publish(KEY)
    assert content_of(KEY) == {"checkpoint": b"step 5"}


def test_a_later_local_change_stays_while_the_bucket_is_as_before(bucket, on):
    write(f"{KEY}/checkpoint", b"step 1")
    storage.publish(KEY)
    write(f"{KEY}/checkpoint", b"step 2")
    assert content_of(KEY) == {"checkpoint": b"step 2"}


def test_what_was_removed_is_gone_everywhere_and_can_be_made_again(bucket, on):
    write(KEY + "/weights")
    storage.publish(KEY)
    on("b")
    storage.fetch(KEY)
    on("a")
    storage.remove(KEY)
    assert not storage.path_of(KEY).exists()
    assert storage.sizes(KEY) == {}
    on("b")
    assert content_of(KEY) == {}
    write(KEY + "/weights", b"again")
    storage.publish(KEY)
    on("a")
    assert content_of(KEY) == {"weights": b"again"}


def test_old_copies_make_room_but_not_those_in_use_or_with_changes(bucket, on):
    for name in "abcd":
        write(name, bytes(3000))
        storage.publish(name)
    assert not storage.path_of("a").exists(), "a publication has to fit, too"
    on("b")
    with storage.holding():
        for name in "ab":
            storage.fetch(name)
        on_other_thread = threading.Thread(target=storage.fetch, args=["c"])
        on_other_thread.start()
        on_other_thread.join()
        write("c", bytes(3001))
        with pytest.raises(DomainError, match="STORAGE_CACHE_GB") as raised:
            storage.fetch("d")
        assert raised.value.code == "storage_cache_full"
    storage.fetch("d")
    assert sorted(path.name for path in storage.path_of("").iterdir() if path.is_file()) == ["b", "c", "d"]


def test_pieces_that_come_to_different_machines_are_one_file(bucket, on):
    pieces = []
    for machine, content in (("a", b"first "), ("b", b"second")):
        on(machine)
        storage.begin_file("uploads/1", size=12)
        with storage.adding("uploads/1") as addition:
            addition.begin(offset=len(pieces))
            addition.file.write(content)
            pieces += addition.store()
    assert storage.sizes("uploads/1") == {}, "it is not complete"
    assert list(storage.stored_below("uploads")) == ["1"]
    storage.seal("uploads/1", pieces)
    on("c")
    assert content_of("uploads/1") == b"first second"
    assert storage.sizes("uploads/1") == {"": 12}


def test_running_work_is_published_now_and_then_and_at_its_end(bucket, on, monkeypatch):
    monkeypatch.setattr(storage, "PUBLISH_SECONDS", 0)
    published, publish = threading.Event(), storage.publish

    def report(key):
        publish(key)
        published.set()

    monkeypatch.setattr(storage, "publish", report)

    def work():
        with storage.publishing(KEY) as publish_soon:
            write(f"{KEY}/checkpoint", b"step 1")
            publish_soon()
            assert published.wait(10)
            assert storage.sizes(KEY) == {"checkpoint": 6}
            write(f"{KEY}/checkpoint", b"step 10")
            raise ValueError

    with pytest.raises(ValueError):
        work()
    assert storage.sizes(KEY) == {"checkpoint": 7}


def test_a_bucket_that_does_not_answer_is_named_with_the_settings_to_check(on, settings):
    settings.STORAGE_URL = "unknown-storage://bucket"
    write("a")
    for attempt in (storage.fetch, storage.publish, storage.sizes):
        with pytest.raises(DomainError, match="Check STORAGE_URL, STORAGE_OPTIONS") as raised:
            attempt("a")
        assert (raised.value.code, raised.value.status) == ("storage_unreachable", 503)
