"""A worker's process is killed while it judges, and another one does the rest."""

import subprocess
import sys
import threading

import pytest

from annotation.models import Annotation, JudgeCall
from config.env import BASE_DIR
from tests.fake_endpoint import COMPLETION_TOKENS, PROMPT_TOKENS
from tests.plugins.workers import environment
from tests.unit.annotation.loop.judging.conftest import work
from tests.waiting import until

JUDGE = """
import sys
import django
django.setup()
from django.conf import settings
settings.POLICY_ENDPOINTS = {"judge": {"url": sys.argv[1], "model": "fake-judge"}}
from annotation.loop.judging.run_body import run_judging
run_judging(int(sys.argv[2]), seconds=None)
"""


@pytest.mark.django_db(transaction=True)
def test_only_calls_in_flight_are_paid_again_after_a_kill(solutions, start, endpoint):
    run, killed = start(), threading.Event()
    endpoint.script = lambda request, number: killed.wait() and None if number >= 2 else "\\boxed{1}"
    process = subprocess.Popen(
        [sys.executable, "-c", JUDGE, endpoint.url, str(run.pk)], cwd=BASE_DIR, env=environment()
    )
    until(lambda: JudgeCall.objects.filter(state="answered").count() == 2 and endpoint.flying == 2)
    process.kill()
    process.wait()
    killed.set()
    labelled = Annotation.objects.count()
    endpoint.script = lambda request, number: "\\boxed{1}"
    # The database may need a moment to notice that the process is gone, and until then it holds the run's lock.
    run = until(lambda: again if (again := work(run)).state != "running" else None)
    assert (run.state, run.labelled, Annotation.objects.count()) == ("done", 4, 4)
    assert labelled <= 2
    assert len(endpoint.requests) == 6, "two were in flight, and only those were sent again"
    lost = JudgeCall.objects.filter(state="lost")
    assert lost.count() == 2
    assert run.tokens == 4 * (PROMPT_TOKENS + COMPLETION_TOKENS) + sum(call.tokens for call in lost)
    assert run.reserved_tokens == 0
