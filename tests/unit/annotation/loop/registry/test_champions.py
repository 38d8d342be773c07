"""Who serves a project and its domains; what a pin holds back; what may not serve."""

import pytest

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.loop import registry
from annotation.loop.registry.verdict import decide
from annotation.loop.rounds.stages import promote
from annotation.loop.rounds.work import StageWork
from annotation.models import AuditEntry, ModelVersion
from annotation.models.model_version import Measurement
from tests.factories import MembershipFactory, ModelVersionFactory, ProblemFactory, make_comparison

pytestmark = pytest.mark.django_db
State = ModelVersion.State


@pytest.fixture
def champion():
    return ModelVersionFactory(number=1, state=State.CHAMPION)


@pytest.fixture
def project(champion):
    return champion.project


@pytest.fixture
def manager(project):
    return MembershipFactory(project=project, role="manager").user


@pytest.fixture
def other(project):
    return ModelVersionFactory(project=project, number=2, state=State.RETIRED)


def test_a_domain_is_served_by_its_own_champion_and_the_rest_by_the_projects(project, champion, other, manager):
    ProblemFactory(project=project, domain="geometry")
    registry.set_domain_champion(by=manager, version=other, domain="geometry")
    assert registry.champion_for(project, "geometry") == other
    assert registry.champion_for(project, "algebra") == champion
    assert registry.champion_of(project) == champion
    # A second choice takes the place of the first, and clearing gives the domain back.
    registry.set_domain_champion(by=manager, version=champion, domain="geometry")
    assert registry.champion_for(project, "geometry") == champion
    registry.clear_domain_champion(by=manager, project=project, domain="geometry")
    assert registry.champion_for(project, "geometry") == champion
    told = AuditEntry.objects.filter(action="model.serve_domain").order_by("pk")
    assert [(t.before["champion"], t.after["champion"]) for t in told] == [(None, 2), (2, 1), (1, None)]
    with pytest.raises(Missing):
        registry.clear_domain_champion(by=manager, project=project, domain="geometry")


def test_a_project_without_a_champion_serves_none(project, champion):
    champion.delete()
    assert registry.champion_for(project, "geometry") is None


def test_only_a_manager_chooses_and_only_a_known_domain(project, other, manager):
    with pytest.raises(DomainError, match="has no problem in the domain"):
        registry.set_domain_champion(by=manager, version=other, domain="astrology")
    for service in (registry.pin_version, registry.unpin_version):
        with pytest.raises(Forbidden):
            service(by=MembershipFactory(project=project).user, version=other)
    with pytest.raises(Forbidden):
        registry.set_domain_champion(by=MembershipFactory(project=project).user, version=other, domain="arithmetic")


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"weights_deleted_at": "2026-01-01T00:00Z"}, "weights_deleted"), ({"origin": "imported"}, "not_measured")],
)
def test_a_version_that_cannot_serve_is_refused_with_the_reason(project, manager, other, fields, code):
    ModelVersion.objects.filter(pk=other.pk).update(**fields)
    ProblemFactory(project=project, domain="geometry")
    for attempt in (
        lambda: registry.promote_version(by=manager, version=other),
        lambda: registry.set_domain_champion(by=manager, version=other, domain="geometry"),
    ):
        with pytest.raises(Conflict) as refused:
            attempt()
        assert refused.value.code == code


def better():
    measured = make_comparison(gain=0.1, low=0.05, high=0.2, solutions=40, problems=20)
    return decide(challenger=2, champion=1, measured=measured, solutions=40, tolerance=0.02, least=20, holdout_uses=0)


def test_the_gate_does_not_replace_a_pinned_champion_and_its_verdict_says_so(project, champion, manager):
    registry.pin_version(by=manager, version=champion)
    challenger = ModelVersionFactory(project=project, number=2, metrics=Measurement(champion=1))
    registry.record_verdict(version=challenger, verdict=better())
    challenger.refresh_from_db()
    assert challenger.gate.promote
    assert challenger.gate.sentence.endswith(
        "Model 1 is pinned and keeps serving. Unpin it, or promote another model by hand."
    )
    run = project.training_runs.create(number=1, trigger="manual", seed=0, model_version=challenger)
    outcome = promote.perform(StageWork(run, stage=None))
    assert (outcome.skipped, outcome.figure) == (True, "model 1 is pinned and keeps serving")
    assert registry.champion_of(project) == champion
    # By hand a manager may: the pin holds the gate back, not people.
    registry.promote_version(by=manager, version=challenger)
    assert registry.champion_of(project) == challenger


def test_pinning_twice_is_told_once(champion, manager):
    for _ in range(2):
        assert registry.pin_version(by=manager, version=champion).pinned
    assert AuditEntry.objects.filter(action="model.pin").count() == 1
    assert not registry.unpin_version(by=manager, version=champion).pinned
