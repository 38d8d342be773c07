"""What one task costs the database: each statement is a round trip, and people wait for their sum."""

import uuid

import psycopg
import pytest
from rest_framework.test import APIClient

from annotation.core.membership.tokens import issue_token
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

LABELLING = ("claim", "submit")
pytestmark = pytest.mark.django_db
# Who calls, the project, and BEGIN and COMMIT are among them. A browser's session is one more than a program's token.
MOST_OF_A_CLAIM = {"program": 8, "browser": 9}
MOST_OF_A_SUBMISSION = {"program": 4, "browser": 5}
MOST_TOGETHER = {"program": 10, "browser": 11}


@pytest.fixture
def generation():
    return GenerationFactory()


@pytest.fixture
def statements(monkeypatch):
    """All that is sent to the database, prepared statements too, which Django's own log does not see."""
    sent = []
    execute = psycopg.Cursor.execute

    def noted(cursor, query, *args, **named):
        sent.append(str(query))
        return execute(cursor, query, *args, **named)

    monkeypatch.setattr(psycopg.Cursor, "execute", noted)
    return sent


@pytest.fixture(params=["program", "browser"])
def caller(request):
    return request.param


@pytest.fixture
def client(caller, generation):
    annotator = MembershipFactory(project=generation.project).user
    if caller == "program":
        _, secret = issue_token(by=annotator, name="work", scopes=LABELLING, for_person=True)
        return APIClient(headers={"Authorization": f"Token {secret}"})
    browser = APIClient()
    browser.force_login(annotator)
    return browser


@pytest.fixture
def post(client, generation, statements):
    """POST as an annotator's program or page does; returns the answer's body and the statements that it took."""

    def send(rest, body):
        statements.clear()
        answer = client.post(f"/api/v1/projects/{generation.project.slug}/{rest}", body, format="json")
        assert answer.status_code in (200, 201), answer.content
        return answer.json(), list(statements)

    return send


def submission(task):
    steps = [(at["position"], at["alternatives"][0]["id"]) for at in task["solution"]["steps"]]
    return {
        "submission_id": str(uuid.uuid4()),
        "solution": task["solution"]["id"],
        "lease": task["lease"]["id"],
        "finish_reason": "solution",
        "path": [
            {"position": position, "chosen": step, "ratings": [{"step": step, "state": "rated", "rating": 1}]}
            for position, step in steps
        ],
    }


@pytest.mark.parametrize("steps", [3, 60])
def test_a_claim_and_a_submission_take_so_many_statements_whatever_the_solutions_length(
    generation, post, caller, steps
):
    QueueItemFactory.create_batch(4, generation=generation, solution__steps=["A step."] * steps)
    first, _ = post("claim/", {"holding": []})
    post("annotations/", submission(first["task"]))

    claimed, claiming = post("claim/", {"holding": []})
    _, submitting = post("annotations/", submission(claimed["task"]))
    third, _ = post("claim/", {"holding": []})
    _, both = post("annotations/", submission(third["task"]) | {"holding": []})

    assert len(claiming) <= MOST_OF_A_CLAIM[caller], "\n".join(claiming)
    assert len(submitting) <= MOST_OF_A_SUBMISSION[caller], "\n".join(submitting)
    assert len(both) <= MOST_TOGETHER[caller], "\n".join(both)
