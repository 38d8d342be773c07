"""Reviewing over the API: the queue, a case, the decision, and a label that goes back and comes again."""

import uuid

import pytest

from annotation.models import Annotation, SentBack
from annotation.work.claiming import claim_next
from tests.api_client import api_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db


def call(member):
    client = api_of(member.user)

    def send(method, rest, body=None):
        answer = getattr(client, method)(f"/api/v1/{rest}", body, format="json")
        return answer.status_code, answer.json()

    return send


@pytest.fixture
def item():
    return QueueItemFactory(generation=GenerationFactory(project__slug="algebra"), wanted=2)


@pytest.fixture
def people(item):
    return [MembershipFactory(project=item.project) for _ in range(2)]


@pytest.fixture
def reviewer(item):
    return MembershipFactory(project=item.project, role="reviewer")


def submission(item, *ratings, **fields):
    steps = list(item.solution.steps.values_list("pk", flat=True))
    path = [
        {
            "position": n,
            "chosen": None if rating == -1 else steps[n],
            "ratings": [{"step": steps[n], "state": "rated", "rating": rating}],
        }
        for n, rating in enumerate(ratings)
    ]
    finish = "found_error" if -1 in ratings else "solution"
    body = {"submission_id": str(uuid.uuid4()), "solution": item.solution_id, "finish_reason": finish, "path": path}
    return body | fields


@pytest.fixture
def labels(item, people):
    found = []
    for member, ratings in zip(people, [(1, 1, 1), (1, -1)], strict=True):
        claim_next(by=member.user, project=item.project, holding=[])
        status, receipt = call(member)("post", "projects/algebra/annotations/", submission(item, *ratings))
        assert status == 201
        found.append(receipt["id"])
    return found


def test_a_case_is_looked_at_and_decided_once(item, labels, reviewer, people):
    ask = call(reviewer)
    [waiting] = ask("get", "projects/algebra/reviews/?reason=disagreement")[1]["results"]
    assert (waiting["solution"], waiting["differs"], waiting["doubted"]) == (item.solution_id, True, False)
    case = ask("get", f"projects/algebra/reviews/{item.solution_id}/")[1]
    assert [step["differs"] for step in case["steps"]] == [False, True, False]
    assert [(label["id"], label["first_error"]) for label in case["labels"]] == [(labels[0], -1), (labels[1], 1)]

    own = submission(item, 1, 1, -1, seen=case["newest"])
    first, again = (ask("post", "projects/algebra/adjudications/", own) for _ in range(2))
    assert (first[0], again[0], first[1]) == (201, 200, again[1])
    assert first[1]["first_error"] == 2
    accepting = {"submission_id": str(uuid.uuid4()), "seen": case["newest"]}
    assert ask("post", f"projects/algebra/annotations/{labels[0]}/accept/", accepting)[1]["code"] == "labels_changed"
    accepting["seen"] = first[1]["id"]
    status, accepted = ask("post", f"projects/algebra/annotations/{labels[0]}/accept/", accepting)
    assert (status, accepted["first_error"], accepted["revision"]) == (201, -1, 2)
    assert ask("get", "projects/algebra/reviews/")[1]["results"] == []
    assert Annotation.objects.filter(adjudicates=True).count() == 2
    assert call(people[0])("post", "projects/algebra/adjudications/", own)[0] == 403
    assert ask("get", "projects/algebra/reviews/99999/")[1]["code"] == "solution_not_found"


def test_a_label_goes_back_and_comes_again(item, labels, reviewer, people):
    ask, answer = call(reviewer), call(people[1])
    back = f"projects/algebra/annotations/{labels[1]}/send-back/"
    status, sent = ask("post", back, {"reason": "Is 2 + 2 not 4?"})
    assert (status, sent["state"], sent["solution"]) == (201, "open", item.solution_id)
    assert answer("post", back, {"reason": "No."})[0] == 403
    assert answer("get", "projects/algebra/my-progress/")[1]["sent_back"] == 1
    assert len(answer("get", "projects/algebra/sent-back/?state=open")[1]["results"]) == 1
    assert call(people[0])("get", "projects/algebra/sent-back/")[1]["results"] == [], "another's is not theirs to see"
    work = answer("get", f"projects/algebra/solutions/{item.solution_id}/my-label/")[1]
    assert work["sent_back"] == "Is 2 + 2 not 4?"

    assert answer("post", "projects/algebra/annotations/", submission(item, 1, 1, 1, based_on=1))[0] == 201

    [told] = ask("get", "projects/algebra/sent-back/")[1]["results"]
    assert (told["state"], told["answer"]) == ("answered", Annotation.objects.get(revision=2).pk)
    assert ask("post", f"sent-back/{sent['id']}/take-back/")[1]["code"] == "sent_back_ended"
    assert call(MembershipFactory())("post", f"sent-back/{sent['id']}/take-back/")[0] == 404
    assert SentBack.objects.count() == 1
