from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.core.membership.access import find_project, membership_of, require_role, visible_projects
from annotation.core.membership.accounts import invite
from annotation.core.membership.members import add_member, change_role, qualify, remove
from annotation.core.membership.projects import change_project, create_project
from annotation.core.membership.tokens import find_token, issue_token, revoke_token
from annotation.models import ApiToken, AuditEntry, Membership
from tests.factories import MembershipFactory, ProblemFactory, ProjectFactory, UserFactory
from tests.waiting import is_waited_for, until

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return MembershipFactory(role="manager")


def test_whoever_creates_a_project_manages_it():
    person = UserFactory(is_staff=True)
    project = create_project(by=person, name="Algebra", slug="algebra", scheme={"error_types": ["slip"]})
    assert require_role(person, project, "manager").role == "manager"
    assert [term.name for term in project.label_scheme.error_types] == ["slip"]
    assert AuditEntry.objects.get(action="project.create").after["name"] == "Algebra"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"slug": "not a slug"}, "invalid_slug"),
        ({"slug": ""}, "invalid_slug"),
        ({"slug": "a" * 81}, "invalid_slug"),
        ({"name": " "}, "invalid_name"),
        ({"scheme": {"stop_at_first_error": "yes"}}, "invalid_scheme"),
        ({"scheme": {"colour": 1}}, "invalid_scheme"),
        ({"policy": {"queue": {"wanted": {"control": 0}}}}, "invalid_policy"),
    ],
)
def test_bad_projects_are_refused(changes, code):
    with pytest.raises(DomainError) as refused:
        create_project(by=UserFactory(is_staff=True), **{"name": "Algebra", "slug": "algebra"} | changes)
    assert refused.value.code == code


def test_only_staff_and_managers_create_projects():
    with pytest.raises(Forbidden) as refused:
        create_project(by=UserFactory(), name="Algebra", slug="algebra")
    assert refused.value.code == "manager_needed"


def test_a_slug_is_taken_once():
    taken = ProjectFactory()
    with pytest.raises(Conflict) as refused:
        create_project(by=UserFactory(is_staff=True), name="Other", slug=taken.slug)
    assert refused.value.code == "slug_taken"
    assert not Membership.objects.exists()


def test_a_manager_changes_a_project_with_an_audit_row(manager):
    change_project(by=manager.user, project=manager.project, state="paused", policy={"queue": {"prefetch_depth": 2}})
    entry = AuditEntry.objects.get(action="project.change")
    assert entry.before == {"state": "active", "policy": {}}
    assert entry.after == {"state": "paused", "policy": {"queue": {"prefetch_depth": 2}}}
    for changes, code in [({"state": "gone"}, "invalid_state"), ({"slug": "other"}, "unknown_field")]:
        with pytest.raises(DomainError) as refused:
            change_project(by=manager.user, project=manager.project, **changes)
        assert refused.value.code == code
    with pytest.raises(Forbidden):
        change_project(by=MembershipFactory(project=manager.project).user, project=manager.project, name="Mine")


def test_roles(manager):
    project = manager.project
    annotator, outsider, root = MembershipFactory(project=project), UserFactory(), UserFactory(is_superuser=True)
    assert require_role(annotator.user, project) == annotator
    for user, roles, code in [(annotator.user, ["manager", "reviewer"], "role_needed"), (outsider, [], "not_a_member")]:
        with pytest.raises(Forbidden) as refused:
            require_role(user, project, *roles)
        assert refused.value.code == code
    as_root = require_role(root, project, "manager")
    assert (as_root.role, as_root.pk) == ("manager", None)
    assert membership_of(root, project) is None


def test_projects_are_seen_by_their_members(manager):
    project = manager.project
    assert find_project(manager.user, project.slug) == project
    assert project in visible_projects(UserFactory(is_superuser=True))
    former = MembershipFactory(project=project, active=False)
    for user in (UserFactory(), former.user):
        with pytest.raises(Missing):
            find_project(user, project.slug)


def test_members_come_change_and_go(manager):
    project, person = manager.project, UserFactory()
    membership = add_member(by=manager.user, project=project, user=person, role="annotator")
    with pytest.raises(Conflict) as refused:
        add_member(by=manager.user, project=project, user=person, role="reviewer")
    assert refused.value.code == "already_member"
    change_role(by=manager.user, membership=membership, role="reviewer")
    remove(by=manager.user, membership=membership)
    assert membership_of(person, project) is None
    again = add_member(by=manager.user, project=project, user=person, role="annotator")
    assert (again.pk, again.pseudonym) == (membership.pk, membership.pseudonym)
    with pytest.raises(DomainError) as refused:
        change_role(by=manager.user, membership=again, role="owner")
    assert refused.value.code == "invalid_role"
    with pytest.raises(Forbidden):
        add_member(by=person, project=project, user=UserFactory(), role="annotator")


def test_a_project_keeps_a_manager(manager):
    for act in (lambda: change_role(by=manager.user, membership=manager, role="annotator"),
                lambda: remove(by=manager.user, membership=manager)):  # fmt: skip
        with pytest.raises(Conflict) as refused:
            act()
        assert refused.value.code == "last_manager"
    MembershipFactory(project=manager.project, role="manager")
    remove(by=manager.user, membership=manager)


def test_tokens():
    person = UserFactory()
    token, secret = issue_token(by=person, name="loop")
    assert find_token(secret) == token
    assert find_token("stepmark_guess") is None
    assert ApiToken.objects.get().digest != secret
    with pytest.raises(Missing):
        revoke_token(by=UserFactory(), token_id=token.pk)
    revoke_token(by=person, token_id=token.pk)
    revoke_token(by=person, token_id=token.pk)
    assert find_token(secret) is None
    with pytest.raises(DomainError):
        issue_token(by=person, name="")


def test_the_token_of_a_disabled_account_is_refused():
    person = UserFactory()
    _, secret = issue_token(by=person, name="loop")
    person.is_active = False
    person.save()
    assert find_token(secret) is None


def test_a_manager_says_of_which_domains_a_person_gets_problems():
    person = MembershipFactory()
    manager = MembershipFactory(project=person.project, role="manager").user
    ProblemFactory(project=person.project, domain="geometry")
    qualify(by=manager, membership=person, domains=["geometry"])
    person.refresh_from_db()
    assert person.domains == ["geometry"]
    told = AuditEntry.objects.get(action="member.qualify")
    assert (told.before, told.after) == ({"domains": None}, {"domains": ["geometry"]})
    for domains, code in ((["geomtry"], "unknown_domain"), ([], "no_domain")):
        with pytest.raises(DomainError) as refused:
            qualify(by=manager, membership=person, domains=domains)
        assert refused.value.code == code
    with pytest.raises(DomainError):
        qualify(by=person.user, membership=person, domains=None)
    qualify(by=manager, membership=person, domains=None)
    person.refresh_from_db()
    assert person.domains is None


def test_a_member_is_removed_once(manager):
    leaving = MembershipFactory(project=manager.project, role="manager")
    for _ in range(2):
        remove(by=manager.user, membership=leaving)
    assert AuditEntry.objects.filter(action="member.remove").count() == 1


def test_a_name_in_another_unicode_form_invites_the_person_who_has_it(manager):
    person = UserFactory(username="mia")
    membership, password = invite(by=manager.user, project=manager.project, username=" \uff4dia ", role="annotator")
    assert (membership.user, password) == (person, None)


@pytest.mark.parametrize("username", ["", "rex/x", "x" * 151])
def test_a_name_that_no_account_can_have_is_named(manager, username):
    with pytest.raises(DomainError, match=f"“{username}” is not a user name"):
        invite(by=manager.user, project=manager.project, username=username, role="annotator")


def test_a_name_in_another_case_invites_the_person_who_has_it(manager):
    """A second account would lock both out, because signing in ignores case."""
    person = UserFactory(username="Mia")
    membership, password = invite(by=manager.user, project=manager.project, username="mia", role="annotator")
    assert (membership.user, password) == (person, None)


@pytest.mark.django_db(transaction=True)
def test_two_managers_who_invite_a_newcomer_open_one_account(manager):
    other = MembershipFactory(role="manager")

    def invite_too():
        try:
            return invite(by=other.user, project=other.project, username="mia", role="annotator")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            invite(by=manager.user, project=manager.project, username="mia", role="annotator")
            second = pool.submit(invite_too)
            until(is_waited_for)
        membership, password = second.result()
    assert (membership.user.username, membership.project, password) == ("mia", other.project, None)
