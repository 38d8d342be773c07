from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotation.core.storage import key_of
from annotation.models.consensus_fit import ConsensusFit
from annotation.models.job import CountedJob, one_live
from annotation.models.message_field import MessageField
from annotation.models.project import Project


class Snapshot(models.Model):
    """An immutable, content-hashed dataset version: a file of records named by its SHA-256.

    `filters` are those that it was made with, `counts` describe its contents. `fit` gave its consensus; it is null for
    a method that does not learn. `graded_sha256` names the file of graded solutions that nobody has read; it is empty
    without any.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="snapshots")
    sha256 = models.CharField(max_length=64)
    path = models.CharField(max_length=300, help_text="Relative to the folder of snapshots.")
    graded_sha256 = models.CharField(max_length=64, blank=True)
    filters = models.JSONField(default=dict)
    counts = models.JSONField(default=dict)
    fit = models.ForeignKey(ConsensusFit, null=True, blank=True, on_delete=models.PROTECT, related_name="snapshots")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "sha256", "graded_sha256", "filters"], name="snapshot_content_once"
            )
        ]

    def __str__(self) -> str:
        return f"snapshot {self.sha256[:12]}"


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
    def leftover(self) -> str:
        """The key of the uploaded file."""
        return key_of(self.path)

    def __str__(self) -> str:
        return f"contamination check {self.pk} of {self.snapshot} ({self.state})"


class ExportSchedule(models.Model):
    """An export that repeats: every `every_days` days, after each promotion, or both.

    It makes a snapshot with its `filters` and writes it in its `formats`, with their `options`, into the folder `path`
    below the operator's root of this name (`settings.EXPORT_ROOTS`).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="export_schedules")
    name = models.CharField(max_length=100)
    filters = models.JSONField(default=dict, blank=True)
    formats = models.JSONField(default=list)
    options = models.JSONField(default=dict, blank=True)
    root = models.CharField(max_length=100)
    path = models.CharField(max_length=1000, blank=True)
    every_days = models.PositiveSmallIntegerField(null=True, blank=True)
    after_promotion = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="export_schedule_name_once"),
            models.CheckConstraint(
                condition=Q(every_days__gte=1) | Q(every_days__isnull=True, after_promotion=True),
                name="export_schedule_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ExportJob(CountedJob):
    """Makes a snapshot with the `filters` and writes it in each of the `formats` to the folder `target`.

    Without formats it only makes the snapshot. `target` is a path on this machine, or an address that fsspec opens;
    credentials are never stored. Counts are of solutions; `total` is at least as many as pass the filters. `files` are
    the names of the files that were written.
    """

    KIND = "export"
    TASK = "datasets.export"
    COUNTS = ("done",)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="export_jobs")
    schedule = models.ForeignKey(
        ExportSchedule, null=True, blank=True, on_delete=models.SET_NULL, related_name="export_jobs"
    )
    snapshot = models.ForeignKey(Snapshot, null=True, blank=True, on_delete=models.PROTECT, related_name="export_jobs")
    filters = models.JSONField(default=dict, blank=True)
    formats = models.JSONField(default=list, blank=True)
    options = models.JSONField(default=dict, blank=True)
    target = models.CharField(max_length=2000, blank=True)
    files = models.JSONField(default=list, blank=True)
    message = MessageField()

    class Meta(CountedJob.Meta):
        constraints = [one_live("schedule", name="export_one_live_per_schedule")]

    @property
    def outcome(self) -> str:
        outcome: str = self.error or self.message
        return outcome

    def __str__(self) -> str:
        return f"export {self.pk} of {self.project} ({self.state})"
