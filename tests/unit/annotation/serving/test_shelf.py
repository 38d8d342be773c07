"""Which model answers while another is being loaded, and what becomes of one that cannot be."""

import time
from concurrent.futures import Future

import pytest

from annotation.core.errors import DomainError
from annotation.loop import registry
from annotation.serving import shelf as shelves
from annotation.serving.messages import Question
from annotation.serving.sessions import begin_session
from annotation.serving.shelf import Loaded, ModelUnusable, Shelf, served_of
from tests.factories import (
    MembershipFactory,
    ModelVersionFactory,
    ProblemFactory,
    ProjectFactory,
    UserFactory,
    make_verdict,
)

pytestmark = pytest.mark.django_db


class Loader:
    """Loads when the test says so."""

    def __init__(self):
        self.asked = {}

    def submit(self, load, version, cache_bytes):
        self.asked[version.number] = Future()
        self.asked[version.number].version = version
        return self.asked[version.number]

    def finish(self, number):
        future = self.asked[number]
        future.set_result(Loaded(None, served_of(future.version, 0.5)))


@pytest.fixture
def project():
    project = ProjectFactory()
    for number in (1, 2, 3):
        ModelVersionFactory(project=project, number=number, gate=make_verdict())
    return project


@pytest.fixture
def shelf():
    shelf = Shelf(most=2, cache_bytes=0)
    shelf._loader = Loader()
    return shelf


def crown(project, number):
    registry.crown(by=None, version=project.model_versions.get(number=number), reason="test")


def question(project, **fields):
    now = time.time()
    told = {"id": "x", "kind": "score", "route": "score", "user": 1, "asked_at": now, "deadline": now + 9}
    return Question(project=project.pk, **told, **fields)


def finish(shelf, number):
    shelf._loader.finish(number)
    shelf.update()


def test_the_old_champion_answers_until_the_new_one_is_there(project, shelf):
    crown(project, 1)
    assert shelf.find(question(project)) is None
    finish(shelf, 1)
    assert shelf.find(question(project)).served.number == 1
    crown(project, 2)
    shelf.update()
    assert shelf.find(question(project)).served.number == 1
    finish(shelf, 2)
    assert shelf.find(question(project)).served.number == 2


def test_what_is_loaded_amid_a_batch_answers_from_the_next_on(project, shelf):
    crown(project, 1)
    assert shelf.find(question(project)) is None
    shelf._loader.finish(1)
    assert shelf.find(question(project)) is None, "or the batch would be read in two"
    shelf.update()
    assert shelf.find(question(project)).served.number == 1


def test_a_version_asked_for_by_number_is_answered_by_no_other(project, shelf):
    crown(project, 1)
    shelf.find(question(project))
    finish(shelf, 1)
    shelf.find(question(project))
    named = project.model_versions.get(number=3).pk
    assert shelf.find(question(project, version=named)) is None
    finish(shelf, 3)
    assert shelf.find(question(project, version=named)).served.number == 3


def test_where_the_new_champion_cannot_be_loaded_the_old_one_goes_on(project, shelf):
    crown(project, 1)
    shelf.find(question(project))
    finish(shelf, 1)
    shelf.find(question(project))
    crown(project, 2)
    shelf.update()
    shelf.find(question(project))
    shelf._loader.asked[2].set_exception(ModelUnusable("corrupt", code="model_unusable"))
    shelf.update()
    assert shelf.find(question(project)).served.number == 1
    with pytest.raises(ModelUnusable):
        shelf.find(question(project, version=project.model_versions.get(number=2).pk))


def test_without_a_champion_the_asker_is_told(project, shelf):
    with pytest.raises(DomainError) as told:
        shelf.find(question(project))
    assert (told.value.status, told.value.code) == (409, "no_champion")


def test_an_unmeasured_model_answers_no_program_before_a_manager_confirms_it(project, shelf):
    project.model_versions.update(gate=make_verdict(gain=None))
    crown(project, 1)
    version = registry.champion_of(project)
    for asked in (question(project), question(project, version=version.pk)):
        with pytest.raises(DomainError) as refused:
            shelf.find(asked)
        assert (refused.value.status, refused.value.code) == (409, "unmeasured_model")
    with pytest.raises(DomainError, match="did not measure"):
        begin_session(by=UserFactory(), project=project, problem="p")
    registry.confirm_version(by=MembershipFactory(project=project, role="manager").user, version=version)
    shelf.update()
    assert shelf.find(question(project)) is None, "it is being loaded"
    finish(shelf, 1)
    assert shelf.find(question(project)).served.number == 1


def test_an_unknown_domain_is_refused_and_not_scored_by_the_general_champion(project, shelf):
    crown(project, 1)
    ProblemFactory(project=project, domain="geometry")
    assert shelf.find(question(project, domain="geometry")) is None, "it is being loaded"
    named = project.model_versions.get(number=2).pk
    for asked in (question(project, domain="cooking"), question(project, domain="cooking", version=named)):
        with pytest.raises(DomainError) as refused:
            shelf.find(asked)
        assert (refused.value.status, refused.value.code) == (400, "unknown_domain")
    with pytest.raises(DomainError, match="cooking"):
        begin_session(by=UserFactory(), project=project, problem="p", domain="cooking")


def test_whatever_goes_wrong_in_loading_is_a_refusal(project, monkeypatch):
    def broken(version, cache_bytes):
        raise RuntimeError("no room")

    monkeypatch.setattr(shelves, "ServingModel", broken)
    with pytest.raises(ModelUnusable, match="no room"):
        shelves._load(project.model_versions.get(number=1), 0)


def test_the_least_used_model_leaves_first(project, shelf):
    versions = {version.number: version.pk for version in project.model_versions.all()}
    for number in (1, 2, 3):
        shelf.find(question(project, version=versions[number]))
        finish(shelf, number)
        shelf.find(question(project, version=versions[number]))
    assert shelf.find(question(project, version=versions[2])).served.number == 2
    assert shelf.find(question(project, version=versions[1])) is None
