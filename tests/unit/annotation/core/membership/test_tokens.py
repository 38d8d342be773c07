"""A program's token, and the project that its call is for."""

import pytest

from annotation.core.errors import Missing
from annotation.core.membership import access
from annotation.core.membership.access import find_project
from annotation.core.membership.tokens import find_token, issue_token
from tests.factories import MembershipFactory, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return ProjectFactory()


@pytest.fixture
def secret(project):
    return issue_token(by=MembershipFactory(project=project).user, name="program")[1]


def test_the_token_and_the_project_are_read_together_and_the_project_again_for_a_second_use(
    project, secret, monkeypatch
):
    user = find_token(secret, slug=project.slug).user
    read = []
    monkeypatch.setattr(access, "fetch_one", lambda *args: read.append(args))

    assert find_project(user, project.slug) == project
    assert not read
    with pytest.raises(Missing):
        find_project(user, project.slug)
    assert read


def test_the_project_of_another_address_is_not_used(project, secret):
    user = find_token(secret, slug=project.slug).user
    with pytest.raises(Missing):
        find_project(user, "other")


def test_a_project_that_the_caller_may_not_see_is_missing(secret):
    hidden = ProjectFactory()
    user = find_token(secret, slug=hidden.slug).user
    with pytest.raises(Missing):
        find_project(user, hidden.slug)
