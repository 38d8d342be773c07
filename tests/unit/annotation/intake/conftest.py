import json

import pytest
from django.contrib.auth.models import User

from annotation.intake.importing import run_import
from annotation.intake.imports import create_import
from annotation.membership.projects import create_project


@pytest.fixture(autouse=True)
def roots(settings, tmp_path):
    settings.UPLOAD_ROOT = tmp_path / "uploads"


@pytest.fixture
def manager(db):
    return User.objects.create_user("manager", is_staff=True)


@pytest.fixture
def project(manager):
    return create_project(by=manager, name="Project", slug="project")


@pytest.fixture
def import_content(project, tmp_path):
    """Import bytes, or lines of JSON, as a file; returns the job at its end."""

    def run(content, *, format="auto", decomposition="blank_lines", name="file.jsonl"):
        if not isinstance(content, bytes):
            content = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in content)
        path = tmp_path / name
        path.write_bytes(content)
        job = create_import(
            by=None, project=project, path=path, filename=name, format=format, decomposition=decomposition
        )
        run_import(job.pk)
        job.refresh_from_db()
        return job

    return run
