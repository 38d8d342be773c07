"""A folder that one process writes is refused to the next, and free again however the first one ended."""

import os
import signal
import subprocess
import sys

import pytest

from prm.errors import FolderInUseError
from prm.files import locked_folder

HOLDER = "import sys, time; from pathlib import Path; from prm.files import locked_folder\n"
HOLDER += "with locked_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"


def test_a_second_writer_is_told_the_folder_and_who_holds_it(tmp_path):
    folder = tmp_path / "model"
    with locked_folder(folder):
        with pytest.raises(FolderInUseError) as refused, locked_folder(folder):
            pass
        assert str(refused.value) == (
            f"{folder} is in use by process {os.getpid()}. Wait until that run ends, or choose another folder."
        )
    with locked_folder(folder):
        pass
    assert not list(folder.iterdir())


def test_a_killed_holder_leaves_the_folder_free(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError, match=f"process {holder.pid}"), locked_folder(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with locked_folder(tmp_path):
        pass
