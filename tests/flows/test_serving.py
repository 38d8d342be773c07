"""Scores over HTTP by real workers: right, batched, swapped under load, and not lost when a worker dies."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection

from annotation.models import ServedScore
from annotation.rounds import registry
from annotation.rounds.gateway.scoring import loaded_scorer
from annotation.serving import line
from tests.factories import UserFactory
from tests.serving_world import PROBLEM, STEPS, program_of, served_project
from tests.waiting import until

ASKED = {"project": "served", "problem": PROBLEM, "steps": STEPS, "timeout": 55}


@pytest.fixture
def manager(celery_workers):
    return UserFactory(is_staff=True)


@pytest.fixture
def project(manager):
    return served_project(manager, versions=2)


def score(program, **asked):
    return program.post("/api/v1/score", ASKED | asked)


def test_the_scores_are_those_of_the_champion_and_are_logged(project, manager):
    from prm.traces import Step, Trace

    answer = score(program_of(manager), aggregate="min")
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
    until(lambda: line.waiting() == 0)


def test_a_named_version_answers_and_many_solutions_keep_their_order(project, manager):
    many = [{"problem": PROBLEM, "steps": STEPS[:n]} for n in (1, 2, 3)]
    program = program_of(manager)
    said = program.post("/api/v1/score", {"project": "served", "solutions": many, "model": 2, "timeout": 55}).json()
    assert said["model"]["number"] == 2
    assert [len(one["steps"]) for one in said["results"]] == [1, 2, 3]
    assert score(program, model=3).status_code == 404


def test_no_request_fails_while_champions_change(project, manager):
    first, second = project.model_versions.order_by("number")
    program = program_of(manager)
    assert score(program).status_code == 200
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
    assert score(program).status_code == 200
    until(lambda: line.waiting() == 0)
    celery_workers.kill("score")
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(score, program) for _ in range(8)]
        until(lambda: line.waiting() == 8)
        celery_workers.start()
        assert {each.result().status_code for each in asked} == {200}
    until(lambda: ServedScore.objects.count() == 9)
    assert ServedScore.objects.order_by("pk").last().batch == 8
