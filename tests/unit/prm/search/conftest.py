"""The sandbox's policies in a process of their own; every third request is turned away, as a busy server does."""

import subprocess
import sys
from pathlib import Path

import pytest

from prm.sandbox import WorldConfig, generate
from prm.search import Endpoint


@pytest.fixture(scope="session")
def policy_url():
    command = [sys.executable, "-m", "prm.sandbox.endpoint", "--port", "0", "--busy", "0.33"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4])
    assert process.stdout is not None
    yield process.stdout.readline().split()[0]
    process.terminate()
    process.wait()


@pytest.fixture(scope="session")
def problems():
    found = {trace.problem: trace for trace in generate(WorldConfig(), split="holdout", n=120)}
    return list(found.values())


@pytest.fixture
def policy(policy_url):
    """One that answers in spite of being busy now and then."""
    return Endpoint(policy_url, "sandbox-medium", retries=30)
