"""Tokens and projects are read once a second, and what does not exist is read each time."""

import pytest

from annotation.core.errors import Missing
from annotation.core.membership.tokens import issue_token, limit_token, revoke_token
from annotation.serving import recent
from tests.factories import MembershipFactory, ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch):
    """The time that the module reads, in a list."""
    now = [1000.0]
    monkeypatch.setattr(recent, "_values", {})
    monkeypatch.setattr(recent.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def member():
    return MembershipFactory()


def test_a_token_is_read_once_a_second_and_a_change_holds_from_then_on(clock, member, django_assert_num_queries):
    token, secret = issue_token(by=member.user, name="program")
    assert recent.recent_token(secret) == token
    with django_assert_num_queries(0):
        assert recent.recent_token(secret).user == member.user
    limit_token(by=member.user, token_id=token.pk, limits={"steps_per_day": 3})
    clock[0] += recent.SECONDS + 0.1
    assert recent.recent_token(secret).steps_per_day == 3
    revoke_token(by=member.user, token_id=token.pk)
    clock[0] += recent.SECONDS + 0.1
    assert recent.recent_token(secret) is None


def test_a_project_is_each_callers_own_and_a_missing_one_is_found_at_once_when_it_is_there(clock, member):
    assert recent.recent_project(member.user, member.project.slug) == member.project
    other = ProjectFactory()
    with pytest.raises(Missing):
        recent.recent_project(member.user, other.slug)
    joined = MembershipFactory(project=other, user=member.user)
    assert recent.recent_project(member.user, other.slug) == other
    with pytest.raises(Missing):
        recent.recent_project(MembershipFactory().user, other.slug)
    joined.active = False
    joined.save()
    clock[0] += recent.SECONDS + 0.1
    with pytest.raises(Missing):
        recent.recent_project(member.user, other.slug)


def test_the_values_have_a_limit(clock, member, monkeypatch):
    monkeypatch.setattr(recent, "MOST", 2)
    for _ in range(5):
        joined = MembershipFactory()
        recent.recent_project(joined.user, joined.project.slug)
    assert len(recent._values) <= 2
