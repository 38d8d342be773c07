"""With real workers: a sampling whose worker is killed goes on, and search is guided by the champion that is served."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.core.lifecycle import sweep_jobs
from annotation.core.membership.projects import create_project
from annotation.core.membership.tokens import issue_token
from annotation.files.record_import import import_records
from annotation.loop import registry
from annotation.loop.gateway.sandbox import Sandbox
from annotation.loop.gateway.scoring import loaded_scorer
from annotation.loop.sampling.sampling_runs import SamplingPlan, start_sampling
from annotation.models import SamplingRun, Solution
from prm.errors import PolicyError
from prm.search import ServiceVerifier
from prm.traces import Step, Trace
from tests.factories import UserFactory
from tests.serving_world import PROBLEM, STEPS, served_project
from tests.waiting import until

SAMPLES = 6


def test_a_killed_sampling_goes_on_and_takes_nothing_in_twice(celery_workers):
    by = User.objects.create_user("manager", is_staff=True)
    project = create_project(by=by, name="Project", slug="project")
    import_records(project=project, records=Sandbox(solutions=300, seed=0).records(), by=by)
    before = Solution.objects.count()
    run = start_sampling(by=by, project=project, plan=SamplingPlan("sandbox", samples=SAMPLES, seed=1))

    def state():
        run.refresh_from_db()
        return run

    until(lambda: state().done_problems > 16)
    celery_workers.kill("default")
    assert state().state == "running"
    assert 16 < run.done_problems < run.problems
    assert Solution.objects.count() == before + run.accepted
    celery_workers.start()

    def taken_up_and_done():
        if not SamplingRun.objects.filter(heartbeat_at__gt=timezone.now() - timedelta(seconds=5)).exists():
            SamplingRun.objects.filter(state="running").update(heartbeat_at=timezone.now() - timedelta(hours=1))
        sweep_jobs()
        return state().state == "done"

    until(taken_up_and_done)
    assert (run.done_problems, run.sampled) == (run.problems, SAMPLES * run.problems)
    assert run.accepted + run.duplicates == run.sampled
    assert Solution.objects.count() == before + run.accepted
    assert Solution.objects.filter(provenance__run=run.name).count() == run.accepted


def test_a_served_champion_judges_as_the_same_model_does_here(celery_workers, live_server):
    manager = UserFactory(is_staff=True)
    project = served_project(manager)
    _, token = issue_token(by=manager, name="search")
    verifier = ServiceVerifier(live_server.url, project="served", token=token)
    champion = registry.champion_of(project)
    local = loaded_scorer(champion)
    assert verifier.threshold == local.threshold
    traces = [Trace(str(k), PROBLEM, [Step(text) for text in STEPS[:k]]) for k in range(4)]
    for served, expected in zip(verifier.score(traces), local.score(traces), strict=True):
        assert served.mean == pytest.approx(expected.mean, abs=1e-5)
    [state] = verifier.extend([(verifier.begin(PROBLEM), Step(STEPS[0]))])
    assert [score.mean for score in state.scores] == pytest.approx(verifier.score(traces[1:2])[0].mean, abs=1e-5)
    with pytest.raises(PolicyError, match="404"):
        ServiceVerifier(live_server.url, project="other", token=token).score(traces)
    with pytest.raises(PolicyError, match="401"):
        ServiceVerifier(live_server.url, project="served", token="wrong").score(traces)
