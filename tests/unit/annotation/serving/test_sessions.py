"""Steps are appended to a session one after another."""

from types import SimpleNamespace

import pytest

from annotation.core.errors import Conflict
from annotation.loop import registry
from annotation.serving import request_queue, sessions
from tests.factories import MembershipFactory, ModelVersionFactory, make_verdict

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    member = MembershipFactory(role="manager")
    version = ModelVersionFactory(project=member.project, number=1, gate=make_verdict())
    registry.crown(by=None, version=version, reason="test")
    begun = sessions.begin_session(by=member.user, project=member.project, problem="p")
    return SimpleNamespace(by=member.user, session_id=begun.id)


def test_a_step_that_outlived_its_lock_is_not_appended_and_says_so(session, monkeypatch):
    def outlive(**named):
        request_queue.redis_client().delete(f"{sessions._key(session.session_id)}:lock")
        return "id", SimpleNamespace(results=[None])

    monkeypatch.setattr(sessions, "ask_worker", outlive)
    with pytest.raises(Conflict) as refused:
        sessions.append_steps(**vars(session), token=None, steps=[("a", "reasoning")], timeout=1)
    assert refused.value.code == "session_lock_expired"
    assert sessions.find_session(**vars(session)).text.steps == ()


def test_a_worker_that_is_too_slow_is_the_reason_although_the_lock_expired(session, monkeypatch):
    def outlive(**named):
        request_queue.redis_client().delete(f"{sessions._key(session.session_id)}:lock")
        raise request_queue.NoAnswer("late")

    monkeypatch.setattr(sessions, "ask_worker", outlive)
    with pytest.raises(request_queue.NoAnswer):
        sessions.append_steps(**vars(session), token=None, steps=[("a", "reasoning")], timeout=1)
