"""An import whose worker is killed goes on where it was and adds nothing twice."""

import json
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.core.lifecycle import sweep_jobs
from annotation.core.membership.projects import create_project
from annotation.files.import_jobs import Manner, import_files
from annotation.models import Annotation, ImportJob, Problem, Solution, Step, StepRating
from tests.waiting import until

RECORDS = 10_000
STEPS = 4


def lines():
    for number in range(RECORDS):
        steps = [f"step {n} of {number}" for n in range(STEPS)]
        line = {"id": str(number), "problem": f"{number} + 1?", "steps": steps, "label": -1}
        yield json.dumps(line).encode() + b"\n"


def test_killed_import_goes_on_and_adds_nothing_twice(celery_workers):
    by = User.objects.create_user("manager", is_staff=True)
    project = create_project(by=by, name="Project", slug="project")
    [job] = import_files(by=by, project=project, files=[("lines.jsonl", lines())], manner=Manner())

    def state():
        job.refresh_from_db()
        return job

    until(lambda: state().done_records > 2000)
    celery_workers.kill("default")
    assert state().state == "running"
    assert 2000 < job.done_records < RECORDS
    assert Solution.objects.count() == job.accepted
    celery_workers.start()

    def taken_up_and_done():
        stalled = timezone.now() - timedelta(hours=1)
        if not ImportJob.objects.filter(heartbeat_at__gt=timezone.now() - timedelta(seconds=3)).exists():
            ImportJob.objects.filter(state="running").update(heartbeat_at=stalled)
        sweep_jobs()
        return state().state == "done"

    until(taken_up_and_done)
    assert (job.accepted, job.duplicates, job.rejected, job.annotations) == (RECORDS, 0, 0, RECORDS)
    counts = [table.objects.count() for table in (Problem, Solution, Annotation, Step, StepRating)]
    assert counts == [RECORDS] * 3 + [RECORDS * STEPS] * 2
