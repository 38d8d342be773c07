import json

import pytest

from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, create_import
from annotation.models import ImportOptions


@pytest.fixture
def import_content(project, tmp_path):
    """Import bytes, or lines of JSON, as a file; returns the job at its end."""

    def run(content, *, format="auto", decomposition="blank_lines", name="file.jsonl", options=None):
        if not isinstance(content, bytes):
            content = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in content)
        path = tmp_path / name
        path.write_bytes(content)
        manner = Manner(format, decomposition, options or ImportOptions())
        job = create_import(by=None, project=project, path=path, filename=name, manner=manner)
        run_import(job.pk)
        job.refresh_from_db()
        return job

    return run
