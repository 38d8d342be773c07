"""The sandbox's policies in a separate process, which rejects a third of the requests once, like a busy server."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from config.settings.base import BASE_DIR


@pytest.fixture(scope="session")
def policy_url() -> Iterator[str]:
    command = [sys.executable, "-m", "prm.sandbox.endpoint", "--port", "0", "--busy", "0.33"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=BASE_DIR)
    assert process.stdout is not None
    yield process.stdout.readline().split()[0]
    process.terminate()
    process.wait()
