"""A project with work in every state, and one person of each role."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Project
from tests import manager_world


@pytest.fixture
def people(db: None) -> dict[str, User]:
    return manager_world.create_people()


@pytest.fixture
def empty_project(people: dict[str, User]) -> Project:
    return manager_world.create_empty_project(people)


@pytest.fixture
def project(empty_project: Project, people: dict[str, User]) -> Project:
    manager_world.fill(empty_project, people)
    return empty_project
