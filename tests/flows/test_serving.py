"""Scores over HTTP by real workers: right, batched, swapped under load, and not lost when a worker dies."""

import base64
import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from django.db import connection

from annotation.core.membership.tokens import issue_token
from annotation.loop import registry
from annotation.loop.gateway.scoring import loaded_scorer
from annotation.loop.gateway.training import model_path
from annotation.models import ServedScore
from annotation.serving import reviewing
from config.settings.base import BASE_DIR
from tests.factories import SolutionFactory, UserFactory
from tests.serving_world import PROBLEM, STEPS, add_version, count_waiting, program_of, served_project, trained_folder
from tests.waiting import until

GUIDE = BASE_DIR / "docs" / "reference" / "serving.md"
ASKED = {"project": "served", "problem": PROBLEM, "steps": STEPS, "timeout": 55}


@pytest.fixture
def manager(celery_workers):
    return UserFactory(is_staff=True)


@pytest.fixture
def project(manager):
    return served_project(manager, versions=2)


def score(program, **asked):
    return program.post("/api/v1/score", ASKED | asked)


def warm(program):
    """The first answer takes as long as the worker's imports and the model's loading."""
    return until(lambda: (answer := score(program)).status_code == 200 and answer)


def test_the_scores_are_those_of_the_champion_and_are_logged(project, manager):
    from prm.traces import Step, Trace

    program = program_of(manager)
    warm(program)
    [documented] = re.findall(r"^curl \S+/api/v1/score .*?-d '(.*?)'$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert score(program, **json.loads(documented) | {"project": "served"}).status_code == 200
    answer = score(program, aggregate="min")
    assert answer.status_code == 200, answer.content
    said = answer.json()
    champion = registry.champion_of(project)
    [expected] = loaded_scorer(champion).score([Trace("", PROBLEM, [Step(text) for text in STEPS])])
    [result] = said["results"]
    assert [step["mean"] for step in result["steps"]] == pytest.approx(expected.mean, abs=1e-5)
    assert result["score"] == pytest.approx(min(expected.mean), abs=1e-5)
    assert (said["model"]["number"], said["model"]["sha256"]) == (1, champion.sha256)
    assert said["model"]["snapshot"] == champion.snapshot_id
    row = until(lambda: ServedScore.objects.filter(request=said["request_id"]).first())
    assert row.model_version == champion
    assert row.mean == pytest.approx(expected.mean, abs=1e-5)
    assert row.text == [PROBLEM, [[text, "reasoning"] for text in STEPS]]
    until(lambda: count_waiting() == 0)


def test_a_named_version_answers_and_many_solutions_keep_their_order(project, manager):
    many = [{"problem": PROBLEM, "steps": STEPS[:n]} for n in (1, 2, 3)]
    program = program_of(manager)
    warm(program)
    said = program.post("/api/v1/score", {"project": "served", "solutions": many, "model": 2, "timeout": 55}).json()
    assert said["model"]["number"] == 2
    assert [len(one["steps"]) for one in said["results"]] == [1, 2, 3]
    assert score(program, model=3).status_code == 404


def test_no_request_fails_while_champions_change(project, manager):
    first, second = project.model_versions.order_by("number")
    program = program_of(manager)
    warm(program)
    over = Event()

    def ask():
        answers = []
        while not over.is_set():
            answers.append(score(program))
        connection.close()
        return answers

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(ask) for _ in range(4)]
        for turn in range(6):
            registry.crown(by=None, version=[second, first][turn % 2], reason="again")
            until(lambda: score(program).json()["model"]["number"] == registry.champion_of(project).number)
        over.set()
        answers = [answer for each in asking for answer in each.result()]
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["model"]["number"] for answer in answers} == {1, 2}


def test_what_waits_while_a_worker_is_dead_is_answered_together_by_the_next(project, manager, celery_workers):
    program = program_of(manager)
    warm(program)
    until(lambda: count_waiting() == 0)
    celery_workers.kill("score")
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(score, program) for _ in range(8)]
        until(lambda: count_waiting() == 8)
        celery_workers.start()
        assert {each.result().status_code for each in asked} == {200}
    until(lambda: ServedScore.objects.filter(batch=8).count() == 8)


def test_a_session_scores_as_the_finished_solution_does_and_forks(project, manager, celery_workers):
    program = program_of(manager)
    whole = warm(program).json()["results"][0]
    begun = program.post("/api/v1/scoring-sessions/", {"project": "served", "problem": PROBLEM}).json()
    address = f"/api/v1/scoring-sessions/{begun['id']}/"

    def append(to, *steps):
        return program.post(f"{to}steps/", {"steps": steps, "timeout": 55})

    assert append(address, STEPS[0]).json()["result"]["steps"][0]["mean"] == pytest.approx(
        whole["steps"][0]["mean"], abs=1e-5
    )
    fork = f"/api/v1/scoring-sessions/{program.post(f'{address}fork/').json()['id']}/"
    assert append(fork, "2 + 2 = 5").json()["step_count"] == 2
    registry.crown(by=None, version=project.model_versions.get(number=2), reason="meanwhile")
    # The worker that kept what it had read is gone: the next one reads it again from the text.
    celery_workers.kill("score")
    celery_workers.start()
    grown = append(address, *STEPS[1:]).json()
    assert grown["model"] == 1
    assert grown["result"]["score"] == pytest.approx(whole["score"], abs=1e-5)
    assert [step["mean"] for step in grown["result"]["steps"]] == pytest.approx(
        [step["mean"] for step in whole["steps"]], abs=1e-5
    )
    assert program.get(fork).json()["step_count"] == 2
    assert program_of(UserFactory()).get(address).status_code == 404
    assert program.delete(address).status_code == 204
    assert append(address, "more").status_code == 404


def test_clients_of_vllm_work_unchanged(project, manager, live_server):
    """Our own client of vLLM's token states, and the step pooling that clients of Qwen's PRMs ask for."""
    from prm.sandbox.world import WorldConfig, generate
    from prm.scoring.vllm import load_over_vllm

    program = program_of(manager)
    version = add_version(project, 3, features=("last", "separator"))
    registry.crown(by=None, version=version, reason="states")
    _, secret = issue_token(by=manager, name="client")
    traces = list(generate(WorldConfig(), split="pool", n=3, seed=5))
    local = list(loaded_scorer(version).score(traces))
    remote = list(load_over_vllm(model_path(version), live_server.url, served="served", api_key=secret).score(traces))
    assert [one.mean for one in remote] == [pytest.approx(one.mean, abs=1e-4) for one in local]

    prompt = "".join(
        [f"<|im_start|>user\n{PROBLEM}<|im_end|>\n<|im_start|>assistant\n", *(f"{s}<extra_0>" for s in STEPS)]
    )
    said = program.post("/pooling", {"model": "served", "input": [prompt]}).json()
    rows = said["data"][0]["data"]
    means = [step["mean"] for step in score(program).json()["results"][0]["steps"]]
    assert [row[1] for row in rows] == pytest.approx(means, abs=1e-5)
    assert [sum(row) for row in rows] == pytest.approx([1, 1, 1])
    assert (said["object"], said["data"][0]["object"], said["model"]) == ("list", "pooling", "served")
    assert said["usage"]["prompt_tokens"] > 0
    encoded = program.post(
        "/pooling",
        {
            "model": "served@3",
            "messages": [
                {"role": "user", "content": PROBLEM},
                {"role": "assistant", "content": "<extra_0>".join([*STEPS, ""])},
            ],
            "encoding_format": "base64",
        },
    ).json()
    assert np.frombuffer(base64.b64decode(encoded["data"][0]["data"]), "<f4").reshape(-1, 2) == pytest.approx(
        np.array(rows), abs=1e-5
    )


def test_a_logged_score_leads_to_the_labels_nearest_to_it(project, manager, settings):
    from annotation.models import TrainingRun

    champion = registry.champion_of(project)
    run = TrainingRun.objects.create(project=project, number=1, seed=0, model_version=champion)
    folder = settings.STATE_ROOT / "runs" / str(run.pk)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(trained_folder().parent / "train.jsonl", folder)
    said = warm(program_of(manager)).json()
    row = until(lambda: ServedScore.objects.filter(request=said["request_id"]).first())
    reviewing.request_review_of_row(by=manager, row=row)
    text = reviewing.text_of(row)
    found = until(lambda: (review := reviewing.find_review(champion, text)) and review.done and review)
    assert found.failure is None
    assert [reason.position for reason in found.reasons] == [0, 1, 2]
    assert [reason.score for reason in found.reasons] == pytest.approx(row.mean, abs=1e-4)
    assert all(len(reason.nearest) == 3 for reason in found.reasons)
    # The same button beside a solution's scores goes the same way, and shares what was found for the same text.
    solution = SolutionFactory(project=project, problem__project=project, problem__text=PROBLEM, steps=STEPS)
    text = reviewing.text_of_solution(solution)
    assert reviewing.find_review(champion, text) == found
