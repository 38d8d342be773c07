"""The reasons beside the model's scores of a solution."""

import pytest

from annotation.loop.gateway.near_labels import NearLabel, StepReason
from annotation.loop.pool.partitions import create_partition
from annotation.models import PoolScore
from annotation.serving import reviewing
from tests.factories import SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def champion(project):
    return project.model_versions.get(state="champion")


@pytest.fixture
def solution(project, champion):
    made = SolutionFactory(project=project, steps=["We add.", ["It is 4.", "It is 5."]])
    create_partition(champion)
    PoolScore.objects.create(model_version=champion, solution=made, mean=[0.9, 0.2], spread=[0.1, 0.1], score=0.2)
    return made


def test_a_person_asks_why_a_solution_has_its_scores(
    client, project, people, champion, solution, monkeypatch, django_capture_on_commit_callbacks
):
    page, sent = f"/p/algebra/solutions/{solution.pk}/", []
    monkeypatch.setattr("annotation.core.jobs._send", lambda task, args, queue: sent.append((task, args, queue)))
    client.force_login(people["annotator"])
    assert client.post(f"{page}review/").status_code == 403
    client.force_login(people["reviewer"])
    assert "Why this score?" in client.get(page).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            assert client.post(f"{page}review/").status_code == 302
    text = reviewing.text_of_solution(solution)
    assert text.steps == (("We add.", "reasoning"), ("It is 4.", "reasoning"))
    assert sent == [("serving.review", (champion.pk, text.problem, text.steps), "score")]
    waiting = client.get(page).content.decode()
    assert "Looking for the labels closest" in waiting
    assert "Why this score?" not in waiting

    near = NearLabel(distance=0.5, solution=solution.pk, position=2, step="2 + 2 = 5.", good=0, neutral=0, bad=1)
    reason = StepReason(position=1, score=0.2, near_good=0.25, moved_by=[("length", -1.5)], nearest=[near])
    monkeypatch.setattr(reviewing, "reasons_of", lambda version, asked, training: [reason])
    project.training_runs.update(model_version=champion)
    reviewing.review(champion.pk, text)
    shown = client.get(page).content.decode()
    assert "2 + 2 = 5." in shown
    assert f"solution {solution.pk}, step 3" in shown
    assert "A worker looks for" not in shown


def test_a_solution_without_scores_has_no_button(client, people, project):
    solution = SolutionFactory(project=project)
    client.force_login(people["manager"])
    assert "Why this score?" not in client.get(f"/p/algebra/solutions/{solution.pk}/").content.decode()
