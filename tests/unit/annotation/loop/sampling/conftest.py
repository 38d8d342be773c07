"""A project with problems of the sandbox, and its policy as the operator's endpoint "sandbox"."""

import pytest

from annotation.files.record_import import import_records
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.sampling import sampling_runs
from annotation.loop.sampling.run_body import run_sampling
from annotation.models import Problem

NOWHERE = {"url": "http://127.0.0.1:9/v1", "model": "gone"}


@pytest.fixture
def sandbox(project, manager):
    """The project with thirty solutions of some fifteen problems."""
    import_records(project=project, records=Sandbox(solutions=30, seed=0).records(), by=manager)
    return project


@pytest.fixture
def sent(monkeypatch):
    """What was enqueued, instead of a broker."""
    tasks = []
    for module in ("core.lifecycle", "loop.sampling.following"):
        monkeypatch.setattr(f"annotation.{module}.enqueue", lambda *task, **_: tasks.append(task))
    return tasks


@pytest.fixture
def sample(sandbox, sent):
    """Start a run with these options and sample to its end."""

    def sample(**options):
        plan = sampling_runs.SamplingPlan("sandbox", **({"samples": 2, "seed": 1} | options))
        run = sampling_runs.create_sampling(by=None, project=sandbox, plan=plan)
        run_sampling(run.pk, seconds=None)
        run.refresh_from_db()
        return run

    return sample


@pytest.fixture
def problems(sandbox):
    return Problem.objects.filter(project=sandbox).order_by("pk")
