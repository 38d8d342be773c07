"""How an import reads ahead of the database."""

import sys
from contextlib import closing

from annotation.files.chunks import SWITCH_SECONDS, read_ahead


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
