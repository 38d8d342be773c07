"""An export that a real worker makes, from a schedule to the files."""

import pytest

from annotation.core.membership.projects import create_project
from annotation.files.record_import import import_records
from annotation.labels.datasets.contamination import request_check
from annotation.labels.datasets.export_jobs import ExportPlace
from annotation.labels.datasets.export_schedules import create_schedule, start_due_exports
from annotation.models import ContaminationCheck, ExportJob
from tests.factories import UserFactory
from tests.stored import snapshot_file
from tests.unit.annotation.labels.datasets.test_snapshots import rated, solution
from tests.waiting import until


@pytest.mark.usefixtures("celery_workers")
def test_a_scheduled_export_and_a_check_are_done_by_workers(settings, tmp_path):
    settings.EXPORT_ROOTS = {"disk": {"url": f"file://{tmp_path}"}}
    manager = UserFactory(is_staff=True)
    project = create_project(by=manager, name="Exported", slug="exported")
    import_records(project=project, records=[solution(f"p{n}", rated(1, 1)) for n in range(3)], by=None)
    place = ExportPlace("disk", "a")
    create_schedule(by=manager, project=project, name="Daily", formats=["records"], place=place, every_days=1)
    assert start_due_exports() == 1
    until(lambda: ExportJob.objects.filter(state__in=("done", "failed")).exists())
    job = ExportJob.objects.get()
    assert (job.state, job.error, job.done) == ("done", "", 3)
    assert (tmp_path / "a" / job.files[0]).read_bytes() == snapshot_file(job.snapshot).read_bytes()
    request_check(by=manager, snapshot=job.snapshot, benchmark=None)
    until(lambda: ContaminationCheck.objects.filter(state__in=("done", "failed")).exists())
    check = ContaminationCheck.objects.get()
    assert (check.state, check.error, check.result["distinct_problems"]) == ("done", "", 3)
