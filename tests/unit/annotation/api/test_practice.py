"""Practice over the API."""

import uuid

import pytest

from annotation.models import Annotation
from tests.api_client import api_of
from tests.factories import MembershipFactory
from tests.unit.annotation.work.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db


def test_a_member_finds_a_solution_answers_it_and_has_it_explained():
    member = MembershipFactory()
    [gold, hidden] = make_gold(member.project, 2)
    gold.practice, gold.explanation = True, "Look at the **second** step."
    gold.save()
    client = api_of(member.user)
    root = f"/api/v1/projects/{member.project.slug}/practice/"
    assert client.get(root).json() == [{"solution": gold.solution_id, "answered": 0, "outcome": None}]
    work = client.get(f"{root}{gold.solution_id}/").json()
    assert set(work) == {"solution", "problem", "scheme"}, "the answer is not told before"
    assert client.get(f"{root}{hidden.solution_id}/").json()["code"] == "practice_not_found"
    steps = [at["alternatives"][0]["id"] for at in work["solution"]["steps"]]
    answer = {
        "submission_id": str(uuid.uuid4()),
        "solution": gold.solution_id,
        "finish_reason": "solution",
        "path": [
            {"position": n, "chosen": step, "ratings": [{"step": step, "state": "rated", "rating": 1}]}
            for n, step in enumerate(steps)
        ],
    }
    told = client.post(root, answer, format="json")
    assert (told.status_code, told.json()["outcome"], told.json()["reference"]) == (201, "missed", 1)
    assert told.json()["explanation"] == "Look at the **second** step."
    again = client.post(root, answer, format="json")
    assert (again.status_code, again.json()) == (200, told.json())
    assert client.get(root).json()[0] == {"solution": gold.solution_id, "answered": 1, "outcome": "missed"}
    assert not Annotation.objects.filter(annotator=member).exists()


def test_examples_of_ratings_are_kept_with_a_project_and_checked():
    manager = MembershipFactory(role="manager")
    client = api_of(manager.user)
    address = f"/api/v1/projects/{manager.project.slug}/"
    example = {"rating": "bad", "step": "$2+2=5$", "before": "What is 2 + 2?", "why": "It is 4."}
    assert client.patch(address, {"examples": [example]}, format="json").json()["examples"] == [example]
    assert client.patch(address, {"examples": [{"rating": "bad"}]}, format="json").status_code == 400
    assert client.patch(address, {"examples": [example | {"rating": "awful"}]}, format="json").status_code == 400
    assert client.get(address).json()["examples"] == [example]
