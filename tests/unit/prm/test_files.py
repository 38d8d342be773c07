"""Files are replaced whole; a folder that one process writes is refused to the next until the first one ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prm.errors import DataError, FolderInUseError, ModelFileError
from prm.files import locked_folder, new_folder, write_atomic

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


@pytest.mark.parametrize("exists", [True, False])
def test_a_new_folder_appears_whole_or_not_at_all(tmp_path, exists):
    out = tmp_path / "out"
    if exists:
        out.mkdir()

    def fill(folder):
        (folder / "part").mkdir()
        (folder / "part" / "a").write_text("a")
        (folder / "b").write_text("b")
        raise OSError("full")

    with pytest.raises(OSError, match="full"), new_folder(out) as folder:
        fill(folder)
    assert [path.name for path in tmp_path.rglob("*")] == (["out"] if exists else [])
    with new_folder(out) as folder:
        (folder / "a").write_text("a")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "a"]
    with pytest.raises(ModelFileError, match="not an empty folder"), new_folder(out):
        pass


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_full_disk_is_named_with_the_file():
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        write_atomic(Path("/dev/full"), bytes(100_000))


def test_a_killed_holder_leaves_the_folder_free(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError, match=f"process {holder.pid}"), locked_folder(tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
    with locked_folder(tmp_path):
        pass
