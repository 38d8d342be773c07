"""A simulation that is terminated takes its workers with it, in the middle of an arm."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.waiting import until

SIMULATE = """
import sys
from pathlib import Path
from types import SimpleNamespace
from prm.simulation.running import _replayed
from tests.unit.prm.simulation.test_workers_end import EndlessWorld
arms = [SimpleNamespace(world=name) for name in ("one", "two")]
list(_replayed(arms, EndlessWorld(Path(sys.argv[1])), processes=2))
"""


@dataclass
class EndlessWorld:
    """A source whose arms are never done, and say in which process they are."""

    folder: Path

    def features(self, name: str) -> None:
        (self.folder / f"{name}.{os.getpid()}").touch()
        time.sleep(3600)


def runs(pid: int) -> bool:
    with suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's word of a parent's death")
def test_workers_end_with_a_simulation_that_is_terminated(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SIMULATE, str(tmp_path)], cwd=Path(__file__).parents[4])
    try:
        until(lambda: len(list(tmp_path.iterdir())) == 2 or process.poll() is not None)
        workers = [int(path.suffix[1:]) for path in tmp_path.iterdir()]
        assert len(workers) == 2
        assert all(map(runs, workers))
        process.terminate()
        assert process.wait() == -signal.SIGTERM
        until(lambda: not any(map(runs, workers)))
    finally:
        process.kill()
        process.wait()
        for worker in (int(path.suffix[1:]) for path in tmp_path.iterdir()):
            if runs(worker):
                os.kill(worker, signal.SIGKILL)
