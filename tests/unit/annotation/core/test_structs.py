"""Structs that several threads decode at once."""

import subprocess
import sys

import pytest

RACE = """
import sys
from threading import Barrier, Thread

import msgspec

from annotation.core.structs import prepare_structs

PREPARE = {prepare}
sys.setswitchinterval(1e-6)


def define():
    class Inner(msgspec.Struct):
        numbers: "list[int]" = []

    globals()["Inner"] = Inner

    class Outer(msgspec.Struct):
        inner: "list[Inner]" = []
        by_name: "dict[str, Inner] | None" = None

    return Outer


for _ in range(300):
    kind, start = define(), Barrier(4)
    if PREPARE:
        prepare_structs()

    def decode():
        start.wait()
        msgspec.json.decode(b'{{"inner": [{{"numbers": [1]}}], "by_name": {{"a": {{}}}}}}', type=kind)

    threads = [Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.mark.parametrize(("prepare", "ends"), [(True, True), (False, False)])
def test_a_struct_that_is_prepared_can_be_decoded_by_several_threads_at_once(prepare, ends):
    """Without it msgspec crashes the process. Once it does not, nothing needs to be prepared."""
    child = subprocess.run([sys.executable, "-c", RACE.format(prepare=prepare)], capture_output=True, timeout=60)
    assert (child.returncode == 0) is ends, child.stderr.decode()[-500:]


def test_the_web_process_prepares_its_structs_before_it_serves():
    check = "from annotation.core import structs; structs.prepare_structs = lambda: print(1); import config.wsgi"
    child = subprocess.run([sys.executable, "-c", check], capture_output=True, timeout=60, check=True)
    assert child.stdout.decode().split() == ["1"]
