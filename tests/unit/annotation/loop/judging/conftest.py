"""A project with solutions, and a fake endpoint named "judge" with prices."""

import pytest

from annotation.loop.judging import judging_runs
from annotation.loop.judging.judging_runs import JudgingPlan
from annotation.loop.judging.run_body import run_judging
from tests.factories import ProblemFactory, SolutionFactory
from tests.fake_endpoint import fake_endpoint

PRICES = {"prompt": 1.0, "completion": 10.0}
STEPS = ["2 + 2 = 4.", "4 + 1 = 6.", "The answer is 6."]


@pytest.fixture
def sent(monkeypatch):
    """What was enqueued, instead of a broker."""
    tasks = []
    monkeypatch.setattr("annotation.core.lifecycle.enqueue", lambda *task, **_: tasks.append(task))
    return tasks


@pytest.fixture
def endpoint(settings):
    """An endpoint whose `script` the test may replace; it finds the first error in the second step."""
    with fake_endpoint(lambda request, number: "\\boxed{1}") as fake:
        settings.POLICY_ENDPOINTS = {"judge": fake.entry(prices=PRICES)}
        yield fake


@pytest.fixture
def solutions(project):
    """Four wrong solutions of four problems."""
    problems = [
        ProblemFactory(project=project, text=f"What is 2 + 2 + 1, for the time {number}?", reference_answer="5")
        for number in range(4)
    ]
    return [SolutionFactory(project=project, problem=problem, steps=STEPS) for problem in problems]


@pytest.fixture
def start(project, manager, sent, endpoint):
    """Create a run with these options, without working on it."""

    def start(method="judge", **options):
        plan = JudgingPlan(method, "judge", **({"seed": 1, "max_tokens": 200} | options))
        return judging_runs.start_judging(by=manager, project=project, plan=plan)

    return start


@pytest.fixture
def judge(start):
    """Create a run and work on it to its end."""

    def judge(*args, **options):
        return work(start(*args, **options))

    return judge


def work(run):
    run_judging(run.pk, seconds=None)
    run.refresh_from_db()
    return run
