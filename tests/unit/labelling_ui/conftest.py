"""A project with work in every state, and one person of each role.

Creating the project would take half the time of a test. So consecutive tests of a module that need it share one, in a
transaction around theirs. Each test rolls back to it and reads instances of its own.
"""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from annotation.models import Project
from tests import manager_world


class SharedWorld:
    """The filled project, which exists while this is `open`."""

    blocker: DjangoDbBlocker | None = None  # set once a test has created the database

    def __init__(self) -> None:
        self._around = ExitStack()
        self.open = False

    def enter(self) -> None:
        """Create the project; each test rolls back to this point."""
        if self.open or self.blocker is None:
            return
        with self.blocker.unblock():
            self._around.enter_context(transaction.atomic())
            people = manager_world.create_people()
            manager_world.fill(manager_world.create_empty_project(people), people)
        self.open = True

    def leave(self) -> None:
        """Roll the project back."""
        if self.open and self.blocker is not None:
            with self.blocker.unblock():
                transaction.set_rollback(True)
                self._around.close()
        self.open = False


WORLD = SharedWorld()


def _shares(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    commits = marker is not None and marker.kwargs.get("transaction", False)
    return not commits and {"project", "empty_project"} <= set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the test's own transaction begins."""
    if _shares(item):
        WORLD.enter()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the test's own transaction has ended; at the very end `world` does it."""
    yield
    if nextitem is not None and not (nextitem.path == item.path and _shares(nextitem)):
        WORLD.leave()


@pytest.fixture(scope="session")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[SharedWorld]:
    """The first test creates a project of its own, because the database does not exist before."""
    WORLD.blocker = django_db_blocker
    yield WORLD
    WORLD.leave()
    WORLD.blocker = None


@pytest.fixture
def people(db: None, world: SharedWorld) -> dict[str, User]:
    return {user.username: user for user in User.objects.all()} if world.open else manager_world.create_people()


@pytest.fixture
def empty_project(people: dict[str, User], world: SharedWorld) -> Project:
    return Project.objects.get() if world.open else manager_world.create_empty_project(people)


@pytest.fixture
def project(empty_project: Project, people: dict[str, User], world: SharedWorld) -> Project:
    if not world.open:
        manager_world.fill(empty_project, people)
    return empty_project


@pytest.fixture
def manager(client: Client, people: dict[str, User]) -> Client:
    """The test client, signed in as the manager."""
    client.force_login(people["manager"])
    return client
