"""How an import reads ahead of the database."""

import sys
import time
from collections.abc import Iterator
from contextlib import closing

from annotation.files.reading_ahead import SWITCH_SECONDS, read_ahead, wait_for_turn, while_waiting
from tests.waiting import until


def test_threads_switch_often_only_while_one_reads_ahead():
    """Otherwise each answer of the database waits 5 ms for the thread that reads."""
    usual = sys.getswitchinterval()
    with closing(read_ahead(iter("abc"))) as items:
        assert next(items) == "a"
        assert sys.getswitchinterval() < 2 * SWITCH_SECONDS < usual
    assert sys.getswitchinterval() == usual


def test_imports_that_overlap_leave_the_usual_interval():
    usual = sys.getswitchinterval()
    first, second = read_ahead(iter("abc")), read_ahead(iter("abc"))
    assert (next(first), next(second)) == ("a", "a")
    first.close()
    second.close()
    assert sys.getswitchinterval() == usual


def test_it_reads_while_the_database_works_and_not_while_rows_are_made():
    read = list[str]()
    with closing(read_ahead(_items(read))) as items:
        assert next(items) == "a"
        time.sleep(0.05)  # rows are made
        assert read == ["a"]
        with while_waiting():
            until(lambda: read == ["a", "b"])
        assert list(items) == ["b", "c"]


def test_without_a_thread_that_reads_ahead_nobody_waits():
    read = list[str]()
    with while_waiting():
        assert list(_items(read)) == ["a", "b", "c"]


def test_an_import_that_stops_early_does_not_wait_for_a_turn():
    items = read_ahead(_items([]))
    next(items)
    items.close()
    wait_for_turn()


def _items(read: list[str]) -> Iterator[str]:
    for name in "abc":
        wait_for_turn()
        read.append(name)
        yield name
