"""The watch over the training process, with processes that behave badly."""

import os
import sys
import time

import pytest

from annotation.errors import DomainError
from annotation.rounds import trainer


@pytest.fixture
def watch(monkeypatch, tmp_path):
    """Watch a Python program as if it were the trainer; returns its progress lines."""

    def run(program, on_tick=lambda: None):
        lines = []
        monkeypatch.setattr(trainer, "_command", lambda data, out, config: [sys.executable, "-c", program])
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
    with pytest.raises(DomainError, match="refused: trace 7 is of the holdout") as refused:
        watch('import sys; sys.stderr.write("trace 7 is of the holdout\\n"); sys.exit(3)')
    assert refused.value.code == "training_data_refused"
    with pytest.raises(DomainError, match="exit code 1: no space left"):
        watch('import sys; sys.stderr.write("warning\\nno space left\\n"); sys.exit(1)')
    with pytest.raises(DomainError, match="signal 9: it gave no reason"):
        watch("import os; os.kill(os.getpid(), 9)")


def test_ends_the_process_when_the_watch_is_called_off(watch, tmp_path):
    def stop():
        if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text():
            raise KeyboardInterrupt

    program = f"""
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
time.sleep(600)
"""
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        watch(program, on_tick=stop)
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_gives_up_on_a_silent_trainer(watch, monkeypatch):
    monkeypatch.setattr(trainer, "STALL_SECONDS", 1)
    with pytest.raises(DomainError, match="said nothing"):
        watch("import time; time.sleep(600)")
