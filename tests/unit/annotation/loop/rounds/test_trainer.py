"""The watch over the training process, with processes that behave badly."""

import os
import sys
import time

import pytest
from django.db import OperationalError

from annotation.core.errors import DomainError
from annotation.core.lifecycle import Cancelled
from annotation.loop.processes import watched
from annotation.loop.rounds import trainer


@pytest.fixture
def watch(monkeypatch, tmp_path, settings):
    """Watch a Python program as if it were the trainer; returns its progress lines."""

    settings.TRAINER_GRACE_SECONDS = 1

    def run(program, on_tick=lambda: None):
        lines = []
        monkeypatch.setattr(trainer, "prm_command", lambda *words, **options: [sys.executable, "-c", program])
        trainer.train(
            data=tmp_path,
            out=tmp_path,
            config=tmp_path,
            log=tmp_path / "log",
            on_progress=lines.append,
            on_tick=on_tick,
        )
        return lines

    return run


def test_hands_on_each_progress_line(watch):
    lines = watch('print(\'{"stage": "train", "step": 1, "of": 2}\\n{"stage": "done"}\'); print("not a report")')
    assert lines == [{"stage": "train", "step": 1, "of": 2}, {"stage": "done"}]


def test_says_the_trainers_own_reason(watch):
    with pytest.raises(DomainError, match="exit code 1: no space left"):
        watch('import sys; sys.stderr.write("warning\\nno space left\\n"); sys.exit(1)')
    with pytest.raises(DomainError, match="signal 9: no reason given"):
        watch("import os; os.kill(os.getpid(), 9)")


def test_says_which_data_the_real_trainer_refuses(tmp_path):
    data = tmp_path / "train.jsonl"
    data.touch()
    with pytest.raises(DomainError, match=r"rejected its input: .*train\.jsonl is empty") as refused:
        trainer.train(
            data=data,
            out=tmp_path / "model",
            config=data,
            log=tmp_path / "log",
            on_progress=lambda progress: None,
            on_tick=lambda: None,
        )
    assert refused.value.code == "training_data_refused"


def test_ends_the_process_when_the_watch_is_called_off(watch, tmp_path):
    def stop():
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise KeyboardInterrupt

    program = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
time.sleep(60)
"""
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        watch(program, on_tick=stop)
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


SEVERAL = """
import os, signal, subprocess, sys, time
out = {out!r}
child = '''
import os, signal, sys, time
def save(number, frame):
    time.sleep(4)  # longer than a grace of seconds
    open(os.path.join(sys.argv[1], "checkpoint-" + sys.argv[2]), "w").close()
    sys.exit(4)
signal.signal(signal.SIGTERM, save)
open(os.path.join(sys.argv[1], "pid-" + sys.argv[2]), "w").write(str(os.getpid()))
time.sleep(60)
'''
children = [subprocess.Popen([sys.executable, "-c", child, out, name]) for name in ("0", "1")]
def pass_on(number, frame):
    for one in children:
        one.terminate()
signal.signal(signal.SIGTERM, pass_on)
sys.exit(max(one.wait() for one in children))
"""


def test_several_processes_have_the_time_to_write_their_checkpoint(watch, tmp_path, settings):
    settings.TRAINER_GRACE_SECONDS = 60

    def cancel():
        if all((tmp_path / f"pid-{rank}").exists() and (tmp_path / f"pid-{rank}").read_text() for rank in (0, 1)):
            raise Cancelled

    with pytest.raises(Cancelled):
        watch(SEVERAL.format(out=str(tmp_path)), on_tick=cancel)
    for rank in (0, 1):
        assert (tmp_path / f"checkpoint-{rank}").exists()
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / f"pid-{rank}").read_text()), 0)


def test_whoever_lost_the_lock_leaves_no_trainer_beside_the_next(watch, tmp_path, settings):
    settings.TRAINER_GRACE_SECONDS = 600

    def lose():
        if (tmp_path / "ready").exists():
            raise OperationalError("the connection is gone")

    program = f"""
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({str(tmp_path / "ready")!r}, "w").close()
time.sleep(60)
"""
    started = time.monotonic()
    with pytest.raises(OperationalError):
        watch(program, on_tick=lose)
    assert time.monotonic() - started < 20


def test_gives_up_on_a_silent_trainer(watch, monkeypatch):
    monkeypatch.setattr(watched, "STALL_SECONDS", 1)
    with pytest.raises(DomainError, match="produced no output"):
        watch("import time; time.sleep(60)")
