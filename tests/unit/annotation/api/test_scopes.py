"""Every route of the API names the scope that a token needs for it, and refuses a token without it."""

import re
import uuid

import pytest
from django.urls import URLPattern, get_resolver
from rest_framework.test import APIClient

from annotation.api import urls
from annotation.api.errors import NothingHere
from annotation.api.reference import read_schema
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.members import remove
from annotation.core.membership.tokens import issue_machine_token, issue_token, revoke_token
from annotation.models import Annotation, ApiToken, Membership, QueueItem, Scope
from tests.factories import GenerationFactory, MachineAnnotatorFactory, MembershipFactory, QueueItemFactory

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SLUG = "algebra"
SAMPLES = {"slug": SLUG, "int": "1", "uuid": "0f1f2f3f-0000-4000-8000-000000000000"}


def views():
    """Each view of the API with its path."""
    outside = [one for one in get_resolver().url_patterns if str(one.pattern) in ("pooling", "v1/models")]
    for prefix, patterns in (("/api/v1/", urls.urlpatterns), ("/", outside)):
        for pattern in patterns:
            assert isinstance(pattern, URLPattern)
            if pattern.callback.view_class is not NothingHere:
                yield pattern.callback.view_class, prefix + str(pattern.pattern)


def methods_of(view):
    return {name for name in METHODS if hasattr(view, name.lower())}


def address(path):
    return re.sub(r"<(\w+):\w+>", lambda converter: SAMPLES[converter[1]], path)


ROUTES = [
    (method, path, view.scopes[method])
    for view, path in views()
    for method in sorted(methods_of(view) & view.scopes.keys())
]


def test_every_route_names_a_scope_for_each_of_its_methods():
    for view, path in views():
        assert set(view.scopes) == methods_of(view), path
        assert set(view.scopes.values()) <= set(Scope.values), path


def test_the_description_names_the_scope_of_every_operation():
    for path, operations in read_schema()["paths"].items():
        for method, operation in operations.items():
            [scopes] = [way["token"] for way in operation["security"] if "token" in way]
            assert len(scopes) == 1, (method, path)
            assert scopes[0] in Scope.values


def program(member, *scopes, **fields):
    _, secret = issue_token(by=member.user, name="program", scopes=scopes, **fields)
    return APIClient(headers={"Authorization": f"Token {secret}"})


@pytest.mark.django_db
def test_a_token_without_the_scope_of_a_route_is_refused_and_one_with_it_is_not():
    manager = MembershipFactory(project__slug=SLUG, role="manager")
    scopes = sorted({scope for _, _, scope in ROUTES})
    assert scopes == sorted(Scope.values)
    without = {scope: program(manager, *(set(Scope.values) - {scope})) for scope in scopes}
    for method, path, scope in ROUTES:
        refused = getattr(without[scope], method.lower())(address(path))
        assert refused.status_code == 403, (method, path)
        if method != "HEAD":
            assert (refused.json()["code"], refused.json()["extra"]) == ("scope_missing", {"scope": scope})
            assert f"`{scope}`" in refused.json()["message"]
    reader = program(manager, "read")
    assert reader.get("/api/v1/projects/").status_code == 200
    assert reader.options("/api/v1/projects/").status_code == 200
    assert reader.patch("/api/v1/projects/").status_code == 405


@pytest.mark.django_db
def test_a_browser_needs_no_scope_and_a_token_makes_none_that_exceeds_it():
    manager = MembershipFactory(role="manager")
    browser = APIClient()
    browser.force_login(manager.user)
    made = browser.post("/api/v1/tokens/", {"name": "loop"}).json()
    assert made["scopes"] == ["read", "score"]
    assert browser.post("/api/v1/tokens/", {"name": "l", "scopes": []}).status_code == 400
    assert browser.post("/api/v1/tokens/", {"name": "l", "scopes": ["all"]}).json()["extra"]["field"] == "scopes[0]"
    administrator = program(manager, "admin", "read")
    refused = administrator.post("/api/v1/tokens/", {"name": "more", "scopes": ["read", "train"]})
    assert (refused.status_code, refused.json()["extra"]) == (403, {"scope": "train"})
    assert administrator.post("/api/v1/tokens/", {"name": "same", "scopes": ["read"]}).status_code == 201
    with pytest.raises(DomainError) as wrong:
        issue_token(by=manager.user, name="none", scopes=())
    assert wrong.value.code == "invalid_scopes"


@pytest.mark.django_db
class TestAMachine:
    @pytest.fixture
    def item(self):
        generation = GenerationFactory(project__slug=SLUG)
        return QueueItemFactory(generation=generation, lane="acquisition", route="judge", taker="machine")

    @pytest.fixture
    def manager(self, item):
        return MembershipFactory(project=item.project, role="manager")

    @pytest.fixture
    def machine(self, item):
        return MachineAnnotatorFactory(membership__project=item.project)

    def labelled(self, client, item):
        """Claim and submit as a client; returns the label."""
        slug = item.project.slug
        task = client.post(f"/api/v1/projects/{slug}/claim/", {}).json()["task"]
        lease = task["lease"]["id"]
        assert client.post(f"/api/v1/leases/{lease}/heartbeat/").status_code == 200
        body = {
            "submission_id": str(uuid.uuid4()),
            "solution": item.solution.pk,
            "finish_reason": "solution",
            "path": [
                {"position": n, "chosen": step.pk, "ratings": [{"step": step.pk, "state": "rated", "rating": 1}]}
                for n, step in enumerate(item.solution.steps.all())
            ],
        }
        receipt = client.post(f"/api/v1/projects/{slug}/annotations/", body)
        assert receipt.status_code == 201, receipt.json()
        return Annotation.objects.get(pk=receipt.json()["id"])

    def test_its_token_claims_and_submits_and_nothing_else(self, item, manager, machine):
        _, secret = issue_machine_token(by=manager.user, machine=machine, name="judge")
        client = APIClient(headers={"Authorization": f"Token {secret}"})
        label = self.labelled(client, item)
        assert (label.source, label.annotator) == (machine.source, machine.membership)
        for method, path, scope in ROUTES:
            if scope not in ("claim", "submit"):
                assert getattr(client, method.lower())(address(path)).status_code == 403, (method, path)
        body = {"submission_id": str(uuid.uuid4()), "seen": label.pk}
        decided = client.post(f"/api/v1/projects/{item.project.slug}/annotations/{label.pk}/accept/", body)
        assert (decided.status_code, decided.json()["code"]) == (403, "role_needed")

    @pytest.mark.parametrize("signs_in", ["as a machine", "as a person with a token"])
    def test_what_a_program_submits_never_counts_as_human(self, item, machine, signs_in):
        if signs_in == "as a machine":
            client, name = APIClient(), machine.source.name
            client.force_login(machine.membership.user)
        else:
            client, name = program(MembershipFactory(project=item.project), "claim", "submit"), ""
            QueueItem.objects.update(route="person", taker="person")
        source = self.labelled(client, item).source
        assert (source.kind, source.name) == ("model_judge", name)

    def test_its_manager_alone_issues_and_revokes_its_tokens(self, item, manager, machine):
        token, _ = issue_machine_token(by=manager.user, machine=machine, name="judge")
        assert token.scopes == ["claim", "submit"]
        with pytest.raises(Missing):
            revoke_token(by=MembershipFactory(role="manager").user, token_id=token.pk)
        revoke_token(by=manager.user, token_id=token.pk)
        assert ApiToken.objects.get(pk=token.pk).revoked_at is not None
        other, _ = issue_machine_token(by=manager.user, machine=machine, name="judge")
        remove(by=manager.user, membership=machine.membership)
        assert ApiToken.objects.get(pk=other.pk).revoked_at is not None
        machine.refresh_from_db()
        with pytest.raises(Conflict) as refused:
            issue_machine_token(by=manager.user, machine=machine, name="judge")
        assert refused.value.code == "machine_retired"

    def test_the_api_adds_changes_and_retires_it(self, item, manager):
        client = program(manager, "read", "admin")
        root = f"/api/v1/projects/{item.project.slug}/machines/"
        body = {"name": "gpt", "model_name": "gpt-9", "prompt_version": "1", "cost_per_label": 0.01}
        made = client.post(root, body).json()
        assert (made["family"], made["source"], made["active"]) == ("gpt", "gpt-9, prompt 1", True)
        changed = client.patch(f"{root}{made['id']}/", {"prompt_version": "2"}).json()
        assert (changed["source"], changed["cost_per_label"]) == ("gpt-9, prompt 2", 0.01)
        issued = client.post(f"{root}{made['id']}/tokens/", {"name": "judge"}).json()
        assert self.labelled(APIClient(headers={"Authorization": f"Token {issued['secret']}"}), item).source.name == (
            "gpt-9, prompt 2"
        )
        [listed] = client.get(f"{root}{made['id']}/tokens/").json()["results"]
        assert (listed["scopes"], "secret" in listed) == (["claim", "submit"], False)
        kinds = client.get(f"/api/v1/projects/{item.project.slug}/people/", {"kind": "machine"}).json()["results"]
        assert [one["username"] for one in kinds] == ["gpt"]
        assert client.delete(f"{root}{made['id']}/").status_code == 204
        assert client.get(root).json()["results"][0]["active"] is False
        assert client.get(f"{root}{manager.pk}/tokens/").json()["code"] == "machine_not_found"
        assert not Membership.objects.get(pk=made["id"]).active
