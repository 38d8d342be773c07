from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotation.models.job import CountedJob, one_live
from annotation.models.message_field import MessageField
from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


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
