"""The sandbox's problems, and a policy that answers them."""

import pytest

from prm.sandbox import WorldConfig, generate
from prm.search import Endpoint


@pytest.fixture(scope="session")
def problems():
    found = {trace.problem: trace for trace in generate(WorldConfig(), split="holdout", n=120)}
    return list(found.values())


@pytest.fixture
def policy(policy_url):
    """A policy that is asked again when it is busy."""
    return Endpoint(policy_url, "sandbox-medium", retries=30)
