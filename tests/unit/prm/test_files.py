"""Files are replaced whole; a folder that one process writes is refused to the next until the first one ends."""

import os
import signal
import subprocess
import sys

import pytest

from prm.errors import DataError, FolderInUseError
from prm.files import locked_folder, write_atomic

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


def test_a_file_is_no_folder_to_write_in(tmp_path):
    (tmp_path / "model").write_text("")
    with (
        pytest.raises(DataError, match="model is a file: give the path of a folder"),
        locked_folder(tmp_path / "model"),
    ):
        pass


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        write_atomic(pipe, b"rows")
        assert reader.communicate()[0] == "rows"
    assert pipe.is_fifo()


def test_a_killed_holder_leaves_the_folder_free(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError, match=f"process {holder.pid}"), locked_folder(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with locked_folder(tmp_path):
        pass
