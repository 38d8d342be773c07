"""An empty project with a manager and members. Files that need more fixtures under these names have their own."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Project
from tests import manager_world


@pytest.fixture
def people() -> dict[str, User]:
    return manager_world.create_people()


@pytest.fixture
def project(people: dict[str, User]) -> Project:
    return manager_world.create_empty_project(people)
