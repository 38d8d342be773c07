"""Gold and screening decisions over the API."""

import pytest

from annotation.models import GoldAnswer
from tests.api_client import api_of
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return ProjectFactory()


def client_of(project, role):
    return api_of(MembershipFactory(project=project, role=role).user)


def test_gold_is_marked_listed_and_retired(project):
    label = AnnotationFactory(solution__project=project, annotator__role="reviewer", first_error=-1)
    client, root = client_of(project, "reviewer"), f"/api/v1/projects/{project.slug}"
    made = client.post(f"{root}/gold/", {"annotation": label.pk, "accepted": [2]}, format="json")
    assert (made.status_code, made.json()["first_error"], made.json()["accepted"]) == (201, -1, [2])
    assert [row["solution"] for row in client.get(f"{root}/gold/").json()["results"]] == [label.solution_id]
    retired = client.post(f"/api/v1/gold/{made.json()['id']}/retire/", {"reason": "unclear"}, format="json")
    assert retired.json()["active"] is False
    assert client.post(f"/api/v1/gold/{made.json()['id']}/retire/", {}, format="json").status_code == 409
    refused = client_of(project, "annotator").post(f"{root}/gold/", {"annotation": label.pk}, format="json")
    assert refused.status_code == 403
    assert client_of(ProjectFactory(), "manager").post(f"/api/v1/gold/{made.json()['id']}/retire/").status_code == 404


def test_accuracy_is_told_of_everybody_who_answered(project):
    label = AnnotationFactory(solution__project=project, annotator__role="reviewer", first_error=-1)
    GoldAnswer.objects.create(project=project, solution=label.solution, annotation=label)
    answer = AnnotationFactory(solution=label.solution, lane="gold", first_error=1, finish_reason="found_error")
    [row] = client_of(project, "reviewer").get(f"/api/v1/projects/{project.slug}/gold-accuracy/").json()
    assert (row["member"], row["right"]["count"], row["right"]["of"]) == (answer.annotator_id, 0, 1)
    assert row["outcomes"]["invented"] == 1


def test_a_manager_decides_who_may_label(project):
    person = MembershipFactory(project=project)
    address = f"/api/v1/projects/{project.slug}/members/{person.pk}/screening-decisions/"
    manager = client_of(project, "manager")
    made = manager.post(address, {"outcome": "paused", "reason": "let us talk"}, format="json")
    assert (made.status_code, made.json()["by"] is not None) == (201, True)
    assert manager.post(address, {"outcome": "again"}, format="json").json()["code"] == "screening_off"
    reviewer = client_of(project, "reviewer")
    assert reviewer.post(address, {"outcome": "passed"}, format="json").status_code == 403
    assert [row["outcome"] for row in reviewer.get(address).json()["results"]] == ["paused"]
    assert client_of(project, "annotator").get(address).status_code == 403
