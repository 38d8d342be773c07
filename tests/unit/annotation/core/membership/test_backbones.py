"""A manager names only backbones that the operator listed."""

import pytest

from annotation.core.errors import DomainError
from annotation.core.membership.backbones import check_backbone
from annotation.core.membership.projects import change_project, create_project
from annotation.loop.gateway.training import training_config
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return UserFactory(is_staff=True)


@pytest.mark.parametrize("backbone", ["/etc", "some/model", "../models/x", "", "/srv/models/../../etc", "/srv/models2"])
def test_what_the_operator_did_not_list_is_refused_at_the_field(manager, settings, backbone):
    settings.BACKBONES = ["Qwen/Qwen3-8B", "/srv/models"]
    with pytest.raises(DomainError) as refused:
        create_project(by=manager, name="P", slug="p", policy={"backbone": backbone})
    assert (refused.value.code, refused.value.extra["place"]) == ("backbone_not_listed", "backbone")
    assert refused.value.message == (
        f"'{backbone}' is not a backbone of this server. Choose one of: tiny, Qwen/Qwen3-8B, /srv/models. "
        "The operator can add others to BACKBONES."
    )


def test_a_link_does_not_lead_out_of_a_root(settings, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "models" / "link").symlink_to(tmp_path / "elsewhere")
    settings.BACKBONES = [str(tmp_path / "models")]
    check_backbone(str(tmp_path / "models" / "real"))
    with pytest.raises(DomainError):
        check_backbone(str(tmp_path / "models" / "link"))


@pytest.mark.parametrize("backbone", ["tiny", "Qwen/Qwen3-8B", "/srv/models", "/srv/models/a/b"])
def test_what_is_listed_is_taken(manager, settings, backbone):
    settings.BACKBONES = ["Qwen/Qwen3-8B", "/srv/models"]
    project = create_project(by=manager, name="P", slug="p", policy={"backbone": backbone})
    assert training_config(project.policies, seed=0)["base"] == backbone


def test_one_that_is_listed_no_longer_trains_nothing_and_leaves_other_settings_open(manager, settings):
    settings.BACKBONES = ["some/model"]
    project = create_project(by=manager, name="P", slug="p", policy={"backbone": "some/model"})
    settings.BACKBONES = []
    change_project(by=manager, project=project, policy={"backbone": "some/model", "keep_models": 3})
    with pytest.raises(DomainError, match="'some/model' is not a backbone of this server"):
        training_config(project.policies, seed=0)
