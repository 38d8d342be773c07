"""Known failures are told apart, and each says what to do."""

import errno

import pytest

from annotation.core.errors import DomainError
from annotation.loop.processes.watched import ProcessFailed
from annotation.loop.rounds import failures


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DomainError("the trainer failed with code 1: CUDA out of memory.", code="training_failed"), "out_of_memory"),
        (DomainError("the trainer failed with signal 9: no reason given", code="training_failed"), "killed"),
        (DomainError("[Errno 28] No space left on device: 'x'", code="training_failed"), "disk_full"),
        (DomainError("backbone 'x/y': it is not a local folder", code="training_failed"), "base_missing"),
        (DomainError("exit code 2: backbone 'x' is not causal", code="training_data_refused"), "base_missing"),
        (DomainError("exit code 1: `lane`: not with backbone 'x': no", code="training_failed"), "option_unusable"),
        (DomainError("the trainer rejected its input: line 3", code="training_data_refused"), "training_data_refused"),
        (DomainError("the trainer produced no output for 15 minutes.", code="trainer_stalled"), "trainer_stalled"),
        (DomainError("the checksum does not fit", code="model_unusable"), "model_unusable"),
        (DomainError("the worker died 3 times.", {"times": 3}, code="worker_died"), "worker_died"),
        (OSError(errno.ENOSPC, "full"), "disk_full"),
        (PermissionError(errno.EACCES, "no", "/data/models"), "folder_unwritable"),
        (FileNotFoundError(errno.ENOENT, "gone"), "files_gone"),
        (MemoryError(), "out_of_memory"),
        (ZeroDivisionError("by zero"), "unexpected"),
    ],
    ids=str,
)  # fmt: skip
def test_a_failure_says_what_happened_what_stays_and_what_to_do(error, code):
    found, said = failures.explain("train", error)
    assert found == code
    assert said.startswith("The stage “train” failed: ")
    assert "The champion keeps serving. " in said
    assert said.endswith(failures.KINDS[code].next_step)


def test_a_process_that_a_signal_ended_is_named_by_the_signal_and_not_by_our_class(tmp_path):
    (tmp_path / "shadow.log").write_text("earlier\n")
    error = ProcessFailed(-9, tmp_path / "shadow.log", start=8)
    assert failures.what_happened(error).startswith("signal 9: no reason given")
    assert failures.kind_of(error).code == "killed"


def test_a_code_of_old_leads_nowhere():
    assert failures.page_of("") == ""
