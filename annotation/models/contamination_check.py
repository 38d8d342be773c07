from pathlib import Path

from django.conf import settings
from django.db import models

from annotation.models.job import CountedJob
from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


class ContaminationCheck(CountedJob):
    """Compares a snapshot with a benchmark file, and its problems with each other.

    `path` is the place of the benchmark, "" to look for near-duplicates inside the snapshot only. `result` is the
    report of `prm.contamination`; it has the SHA-256 of the file. Counts are of solutions.
    """

    KIND = "overlap"
    TASK = "datasets.check_contamination"
    COUNTS = ("done",)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="contamination_checks")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="contamination_checks")
    filename = models.CharField(max_length=300, blank=True)
    path = models.CharField(max_length=2000, blank=True)
    result = models.JSONField(default=dict, blank=True)

    @property
    def leftover(self) -> Path | None:
        """The uploaded file."""
        path = Path(self.path)
        return path if self.path and path.is_relative_to(settings.UPLOAD_ROOT) else None

    def __str__(self) -> str:
        return f"contamination check {self.pk} of {self.snapshot} ({self.state})"
