import pytest
from django.contrib.auth.models import User

from annotation.core.membership.projects import create_project


@pytest.fixture(autouse=True)
def roots(settings, tmp_path):
    """Keep what a test uploads or freezes in a folder of its own."""
    settings.STATE_ROOT = tmp_path


@pytest.fixture
def manager(db):
    return User.objects.create_user("manager", is_staff=True)


@pytest.fixture
def project(manager):
    return create_project(by=manager, name="Project", slug="project")
