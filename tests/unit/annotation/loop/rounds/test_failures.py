"""Known failures are told apart, and each says what to do."""

import errno

import pytest

from annotation.core.errors import DomainError
from annotation.loop.rounds import failures


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DomainError("training_failed", "the trainer ended with exit code 1: CUDA out of memory."), "out_of_memory"),
        (DomainError("training_failed", "the trainer ended with signal 9: it gave no reason"), "killed"),
        (DomainError("training_failed", "[Errno 28] No space left on device: 'x'"), "disk_full"),
        (DomainError("training_failed", "backbone 'x/y': it is not a local folder"), "base_missing"),
        (DomainError("training_data_refused", "the training data were refused: line 3"), "training_data_refused"),
        (DomainError("trainer_stalled", "the trainer said nothing for 15 minutes."), "trainer_stalled"),
        (DomainError("model_unusable", "the checksum does not fit"), "model_unusable"),
        (DomainError("worker_died", "its worker died 3 times."), "worker_died"),
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
    assert "The champion goes on serving. " in said
    assert said.endswith(failures.KINDS[code].next_step)


def test_a_code_of_old_leads_nowhere():
    assert failures.page_of("") == ""
