"""An empty project with a manager and members. Files that need more fixtures under these names have their own."""

import json
from pathlib import Path

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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of forty solutions, 80 kB."""
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps({"problem": f"p{'i' * n}", "steps": ["a" * 2000]}) for n in range(40)))
    return path
