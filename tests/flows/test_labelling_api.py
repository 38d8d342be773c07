"""Claim, draft, submit through the HTTP API, as the workbench and programs do."""

import uuid

import pytest
from rest_framework.test import APIClient

from annotation.core.membership.tokens import issue_token, revoke_token
from annotation.models import Annotation, Draft, Lease, QueueItem, Solution
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def item():
    return QueueItemFactory(generation=GenerationFactory(), solution__problem__reference_answer="4")


@pytest.fixture
def annotator(item):
    return MembershipFactory(project=item.project)


@pytest.fixture
def client(annotator):
    client = APIClient()
    client.force_login(annotator.user)
    return client


def address(project, rest=""):
    return f"/api/v1/projects/{project.slug}/{rest}"


def finished(task, **changes):
    path = [
        {
            "position": at["position"],
            "chosen": at["alternatives"][0]["id"],
            "own_text": None,
            "dwell_ms": 900,
            "ratings": [{"step": at["alternatives"][0]["id"], "state": "rated", "rating": 1}],
        }
        for at in task["solution"]["steps"]
    ]
    return {
        "submission_id": str(uuid.uuid4()),
        "solution": task["solution"]["id"],
        "lease": task["lease"]["id"],
        "finish_reason": "solution",
        "total_ms": 2700,
        "path": path,
    } | changes


def test_an_annotator_is_not_told_what_wrote_the_solution_or_whether_it_is_right(client, item):
    Solution.objects.update(
        generator="solver-7b",
        provenance={"policy": "solver-7b", "visibility": "summary", "run": "rl-4"},
        final_answer_correct=False,
        outcome_source="tests",
    )
    told = client.post(address(item.project, "claim/"), {"holding": []}).content.decode()
    assert '"task":{' in told
    for secret in ("solver-7b", "rl-4", "summary", "outcome", "correct"):
        assert secret not in told
    for page in ("solutions/", f"solutions/{item.solution_id}/"):
        assert client.get(f"/p/{item.project.slug}/{page}").status_code == 403


def test_claim_draft_resume_submit(client, item):
    claim = client.post(address(item.project, "claim/"), {"holding": []}).json()
    task = claim["task"]
    assert (claim["reason"], claim["message"], claim["retry_at"]) == (None, "", None)
    assert [at["position"] for at in task["solution"]["steps"]] == [0, 1, 2]
    assert task["problem"]["reference_answer"] == "4"
    assert task["scheme"]["stop_at_first_error"] is True
    assert task["draft"] is None
    assert "control" not in str(claim), "the lane is never told"

    lease = f"/api/v1/leases/{task['lease']['id']}/"
    assert client.put(lease + "draft/", {"version": 0, "body": {"marks": [1]}}).json()["version"] == 1
    assert client.post(lease + "heartbeat/").status_code == 200
    resumed = client.post(address(item.project, "claim/"), {}).json()["task"]
    assert resumed["draft"] == {"version": 1, "body": {"marks": [1]}}

    submission = finished(task)
    first = client.post(address(item.project, "annotations/"), submission)
    again = client.post(address(item.project, "annotations/"), submission)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json() == {
        "id": Annotation.objects.get().pk, "revision": 1, "counted": True, "first_error": -1,
    }  # fmt: skip
    assert not Draft.objects.exists()
    item.refresh_from_db()
    assert (item.state, item.leased, item.done) == (QueueItem.State.DONE, 0, 1)
    progress = client.get(address(item.project, "my-progress/")).json()
    assert progress == {"today": 1, "total": 1, "median_seconds": 2.7, "sent_back": 0, "screening": None}
    assert client.post(address(item.project, "claim/"), {}).json()["reason"] == "done"


def test_another_payload_under_the_same_id_is_a_conflict(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    submission = finished(task)
    client.post(address(item.project, "annotations/"), submission)
    refused = client.post(address(item.project, "annotations/"), submission | {"comment": "changed"})
    assert (refused.status_code, refused.json()["code"]) == (409, "submission_conflict")


def test_two_tabs_keep_both_drafts(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    draft = f"/api/v1/leases/{task['lease']['id']}/draft/"
    client.put(draft, {"version": 0, "body": {"tab": 1}})
    assert client.put(draft, {"version": 0, "body": {"tab": 1}}).json()["version"] == 1, "a retry"
    refused = client.put(draft, {"version": 0, "body": {"tab": 2}})
    assert refused.status_code == 409
    assert refused.json()["code"] == "draft_conflict"
    assert refused.json()["extra"] == {"version": 1, "body": {"tab": 1}}
    assert client.put(draft, {"version": 1, "body": {"tab": 2}}).json()["version"] == 2


def test_a_skipped_solution_does_not_come_back(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    assert client.post(f"/api/v1/leases/{task['lease']['id']}/release/", {"reason": "blurred"}).status_code == 204
    assert client.post(address(item.project, "claim/"), {}).json()["task"] is None


def test_a_submission_that_claims_brings_the_next_task_and_a_replay_the_same(client, item):
    later = QueueItemFactory.create_batch(3, generation=item.generation)
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    ahead = client.post(address(item.project, "claim/"), {"holding": [task["lease"]["id"]]}).json()["task"]

    label = finished(task, holding=[ahead["lease"]["id"]])
    stored = client.post(address(item.project, "annotations/"), label)
    replayed = client.post(address(item.project, "annotations/"), label)

    assert (stored.status_code, replayed.status_code) == (201, 200)
    following, again = stored.json()["next"]["task"], replayed.json()["next"]["task"]
    assert following["solution"]["id"] in {one.solution_id for one in later} - {ahead["solution"]["id"]}
    assert (again["lease"]["id"], again["solution"]) == (following["lease"]["id"], following["solution"])
    assert "next" not in client.post(address(item.project, "annotations/"), finished(ahead)).json()
    assert Annotation.objects.count() == 2


def test_a_label_is_stored_although_there_is_no_next_task(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    receipt = client.post(address(item.project, "annotations/"), finished(task, holding=[]))
    assert receipt.status_code == 201
    assert (receipt.json()["next"]["task"], receipt.json()["next"]["reason"]) == (None, "done")
    assert Annotation.objects.count() == 1


def test_a_replay_is_the_same_label_whether_it_claims_or_not(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    label = finished(task)
    assert client.post(address(item.project, "annotations/"), label | {"holding": []}).status_code == 201
    assert client.post(address(item.project, "annotations/"), label).status_code == 200


def test_a_refused_label_claims_nothing(client, item):
    QueueItemFactory.create_batch(2, generation=item.generation)
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    refused = client.post(address(item.project, "annotations/"), finished(task, holding=[], finish_reason="give_up"))
    assert refused.status_code == 400
    assert Lease.objects.count() == 1


def test_a_token_needs_the_scope_of_claims_to_claim_with_a_label(annotator, item):
    _, secret = issue_token(by=annotator.user, name="loop", scopes=["submit"], for_person=True)
    program = APIClient(headers={"authorization": f"Token {secret}"})
    browser = APIClient()
    browser.force_login(annotator.user)
    label = finished(browser.post(address(item.project, "claim/"), {}).json()["task"])
    refused = program.post(address(item.project, "annotations/"), label | {"holding": []})
    assert (refused.status_code, refused.json()["extra"]) == (403, {"scope": "claim"})
    assert not Annotation.objects.exists()
    assert program.post(address(item.project, "annotations/"), label).status_code == 201


def test_hidden_references_are_not_sent(client, item):
    type(item.project).objects.update(scheme={"reference": "hidden"})
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    assert task["problem"]["reference_answer"] is None


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"finish_reason": "give_up"}, "invalid_submission", "reason"),
        ({"finish_reason": "tired"}, "invalid", "finish_reason"),
        ({"path": [{"position": 0, "ratings": [{"step": 0, "state": "rated"}]}]}, "invalid", "path[0].ratings[0].step"),
        ({"path": [{"position": 0, "chosen": 10**9}]}, "invalid_submission", "path[0].chosen"),
        ({"path": "all good"}, "invalid", "path"),
        ({"comment": "\0"}, "invalid", "comment"),
        ({"comment": "x" * 1_000_000}, "invalid", "comment"),
        ({"path": [{"position": number} for number in range(10_000)]}, "invalid_submission", "path[3].position"),
        ({"path": [{"position": 0}] * 20_001}, "invalid", "path"),
    ],
)
def test_bad_submissions_name_the_field(client, item, changes, code, field):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    refused = client.post(address(item.project, "annotations/"), finished(task, **changes))
    assert refused.status_code == 400
    assert refused.json()["code"] == code
    assert refused.json()["extra"]["field"] == field
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("content", [b'{"submission_id": ', b"\xff\xfe", b"[]", b"null", b'"text"'])
def test_what_is_no_submission_is_refused_as_such(client, item, content):
    refused = client.post(address(item.project, "annotations/"), content, content_type="application/json")
    assert (refused.status_code, refused.json().keys()) == (400, {"code", "message", "extra"})


def test_ones_own_label_is_opened_changed_and_handed_in_again(client, item):
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    client.post(address(item.project, "annotations/"), finished(task, comment="first"))
    own = client.get(address(item.project, f"solutions/{item.solution_id}/my-label/")).json()
    assert own["task"]["solution"] == task["solution"]
    assert (own["submitted"]["revision"], own["submitted"]["comment"]) == (1, "first")
    draft = f"/api/v1/leases/{task['lease']['id']}/draft/"
    assert client.put(draft, {"version": 0, "body": {"marks": 1}}).json()["code"] == "lease_ended"
    assert client.put(draft, {"version": 0, "body": {"marks": 1}, "based_on": 1}).json()["version"] == 1
    again = client.get(address(item.project, f"solutions/{item.solution_id}/my-label/")).json()
    assert again["task"]["draft"] == {"version": 1, "body": {"marks": 1}}

    revised = finished(task, comment="second")
    refused = client.post(address(item.project, "annotations/"), revised)
    assert (refused.status_code, refused.json()["code"]) == (409, "revision_conflict")
    assert refused.json()["extra"]["latest"]["comment"] == "first"
    assert refused.json()["extra"]["submitted"]["comment"] == "second"
    receipt = client.post(address(item.project, "annotations/"), revised | {"based_on": 1})
    assert (receipt.status_code, receipt.json()["revision"]) == (201, 2)
    assert receipt.json()["counted"] is True, "it stands in the place that the label it replaces has filled"
    assert not Draft.objects.exists()


def test_a_request_beyond_all_measure_is_not_read(client, annotator, item, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 500
    _, secret = issue_token(by=annotator.user, name="script", scopes=["claim"])
    program = APIClient(headers={"authorization": f"Token {secret}"})
    for caller in (client, program):
        refused = caller.post(f"/api/v1/projects/{item.project.slug}/claim/", {"holding": [1] * 500})
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


def test_a_lease_of_another_person_is_refused(client, item):
    QueueItem.objects.update(wanted=2)
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    other = APIClient()
    other.force_login(MembershipFactory(project=item.project).user)
    other.post(address(item.project, "claim/"), {})
    refused = other.post(address(item.project, "annotations/"), finished(task))
    assert (refused.status_code, refused.json()["code"]) == (403, "lease_of_another")


def test_strangers_see_nothing(item):
    client = APIClient()
    assert client.get(address(item.project)).status_code == 401
    assert client.get(address(item.project)).json()["code"] == "not_authenticated"
    client.force_login(UserFactory())
    for answer in (client.get(address(item.project)), client.post(address(item.project, "claim/"), {})):
        assert (answer.status_code, answer.json()["code"]) == (404, "project_not_found")
    assert client.get("/api/v1/nothing/").json()["code"] == "not_found"


def test_a_browser_needs_its_csrf_token(annotator, item):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(annotator.user)
    refused = client.post(address(item.project, "claim/"), {})
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize(("for_person", "kind"), [(False, "model_judge"), (True, "human")])
def test_a_label_that_comes_with_a_token_is_a_program_s_unless_the_token_is_a_person_s_tool(item, for_person, kind):
    annotator = MembershipFactory(project=item.project, role="manager")
    _, secret = issue_token(by=annotator.user, name="program", scopes=("claim", "submit"), for_person=for_person)
    client = APIClient(headers={"authorization": f"Token {secret}"})
    task = client.post(address(item.project, "claim/"), {}).json()["task"]
    receipt = client.post(address(item.project, "annotations/"), finished(task))
    assert receipt.status_code == 201
    assert Annotation.objects.get().source.kind == kind
    decided = client.post(
        address(item.project, "adjudications/"), finished(task) | {"seen": Annotation.objects.get().pk}
    )
    assert decided.status_code == (201 if for_person else 403)


def test_a_program_uses_a_token_until_it_is_revoked(annotator, item):
    token, secret = issue_token(by=annotator.user, name="loop")
    assert secret not in str(vars(token))
    client = APIClient(headers={"Authorization": f"Token {secret}"})
    assert client.get("/api/v1/projects/").json()["results"][0]["slug"] == item.project.slug
    revoke_token(by=annotator.user, token_id=token.pk)
    refused = client.get("/api/v1/projects/")
    assert (refused.status_code, refused.json()["code"]) == (401, "authentication_failed")
