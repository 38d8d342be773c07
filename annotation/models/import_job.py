from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.import_options import ImportOptions, parse_options
from annotation.models.project import Project


class ImportGroup(models.Model):
    """Files that were sent together: each is a job of its own, one after the other."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_groups")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class ImportJob(models.Model):
    """One file on its way in. Counts are of the file's records; bytes tell the progress."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    LIVE = (State.QUEUED, State.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_jobs")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    group = models.ForeignKey(ImportGroup, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    filename = models.CharField(max_length=300)
    path = models.CharField(max_length=2000, help_text="On this machine, or an address that fsspec opens.")
    format = models.CharField(max_length=40, default="auto")
    decomposition = models.CharField(max_length=40, default="blank_lines")
    options = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    total_bytes = models.PositiveBigIntegerField(default=0)
    done_bytes = models.PositiveBigIntegerField(default=0)
    done_records = models.PositiveBigIntegerField(default=0, help_text="Where a restarted import goes on.")
    accepted = models.PositiveBigIntegerField(default=0)
    duplicates = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)
    annotations = models.PositiveBigIntegerField(default=0)
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.filename} ({self.state})"

    @property
    def import_options(self) -> ImportOptions:
        return parse_options(self.options)


class ImportRejection(models.Model):
    """One record that was not taken, with the reason."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejections")
    line = models.PositiveBigIntegerField(help_text="1-based line, or record number in a JSON array.")
    field = models.CharField(max_length=200, blank=True)
    reason = models.TextField()
    excerpt = models.TextField(blank=True)
    original = models.BinaryField(null=True, help_text="The whole record as the file has it, where it is not too long.")

    class Meta:
        ordering = ["line", "id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"
