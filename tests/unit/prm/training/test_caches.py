"""The cache gives back what was put in or nothing, keeps to its limit, and survives damage and company."""

import multiprocessing
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.training.caches import CACHE_FILE, Cache, content_key


def key(number: int) -> bytes:
    return content_key(str(number))


def held(cache: Cache) -> int:
    with sqlite3.connect(cache.path) as file:
        return file.execute("SELECT coalesce(sum(length(value)), 0) FROM content").fetchone()[0]


def test_gives_back_what_was_put_and_no_more(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get([key(1)]) == {}
    cache.put({key(1): b"one", key(2): b""})
    cache.put({key(1): b"ONE"})
    assert Cache(tmp_path).get([key(3), key(2), key(1)]) == {key(1): b"ONE", key(2): b""}
    many = {key(n): str(n).encode() for n in range(1300)}
    cache.put(many)
    assert cache.get(list(many)) == many


@given(st.lists(st.lists(st.binary(max_size=3), max_size=3), min_size=2, max_size=6, unique_by=tuple))
def test_keys_differ_where_any_part_or_the_parting_differs(parts: list[list[bytes]]) -> None:
    assert len({content_key(*each) for each in parts}) == len(parts)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 40)), max_size=12))
def test_never_holds_more_than_its_limit(tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[int, int]]) -> None:
    cache = Cache(tmp_path_factory.mktemp("cache"), limit=100)
    for number, size in puts:
        cache.put({key(number): bytes(size)})
        assert held(cache) <= 100
        assert cache.get([key(number)]) == {key(number): bytes(size)}, "the newest stays"


def test_what_was_used_last_stays(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=30)
    cache.put({key(1): bytes(10)})
    cache.put({key(2): bytes(10)})
    cache.put({key(3): bytes(10)})
    cache.get([key(1)])
    cache.put({key(4): bytes(10)})
    assert set(cache.get([key(n) for n in range(1, 5)])) == {key(1), key(3), key(4)}


def test_a_damaged_entry_is_not_given_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put({key(1): b"right", key(2): b"whole"})
    with sqlite3.connect(cache.path) as file:
        file.execute("UPDATE content SET value = x'00' WHERE value = ?", (b"right",))
    assert cache.get([key(1), key(2)]) == {key(2): b"whole"}
    cache.put({key(1): b"again"})
    assert cache.get([key(1)]) == {key(1): b"again"}


@pytest.mark.parametrize("damage", [b"no database at all", b""], ids=["foreign", "empty"])
def test_a_damaged_file_is_begun_afresh(tmp_path: Path, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.put({key(1): bytes(5000)})
    (tmp_path / CACHE_FILE).write_bytes(damage * 500)
    assert cache.get([key(1)]) == {}
    cache.put({key(1): b"again"})
    assert cache.get([key(1)]) == {key(1): b"again"}


def test_a_full_disk_costs_the_entry_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object, **named: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    cache = Cache(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("prm.training.caches._write", full)
        cache.put({key(1): b"lost"})
    assert cache.get([key(1)]) == {}


def _fill(folder: Path, first: int) -> None:
    cache = Cache(folder, limit=5000)
    for number in range(first, first + 40):
        cache.put({key(number): str(number).encode() * 20})
        found = cache.get([key(other) for other in range(80)])
        assert all(value == value[: len(value) // 20] * 20 for value in found.values())


def test_two_processes_may_use_it_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    others = [context.Process(target=_fill, args=(tmp_path, first)) for first in (0, 40)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    assert [other.exitcode for other in others] == [0, 0]
    found = Cache(tmp_path).get([key(number) for number in range(80)])
    assert found == {key(n): str(n).encode() * 20 for n in range(80)}
