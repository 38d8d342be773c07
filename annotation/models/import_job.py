from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Exists, OuterRef

from annotation.models.import_options import ImportOptions, parse_options
from annotation.models.job import Job
from annotation.models.message_field import MessageField
from annotation.models.project import Project
from prm.splitting import Splitting


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


class ImportJob(Job):
    """One file on its way in. Counts are of the file's records; bytes tell the progress."""

    KIND = "import"
    TASK = "intake.run"
    COUNTS = ("accepted", "duplicates", "rejected", "annotations")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_jobs")
    group = models.ForeignKey(ImportGroup, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    filename = models.CharField(max_length=300)
    path = models.CharField(max_length=2000, help_text="On this machine, or an address that fsspec opens.")
    format = models.CharField(max_length=40, default="auto")
    decomposition = models.CharField(max_length=40, default="blank_lines")
    options = models.JSONField(default=dict, blank=True)
    total_bytes = models.PositiveBigIntegerField(default=0)
    done_bytes = models.PositiveBigIntegerField(default=0)
    done_records = models.PositiveBigIntegerField(default=0, help_text="Where a restarted import goes on.")
    accepted = models.PositiveBigIntegerField(default=0)
    duplicates = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)
    annotations = models.PositiveBigIntegerField(default=0)
    warnings = models.JSONField(default=dict, blank=True, help_text="Counts by name; see annotation.files.warnings.")

    def __str__(self) -> str:
        return f"import {self.pk} of {self.filename} ({self.state})"

    @classmethod
    def in_turn(cls) -> models.QuerySet["ImportJob"]:
        """Of files that were sent together, the first that is not over."""
        before = cls.objects.filter(group=OuterRef("group"), state__in=cls.WORKED_ON, pk__lt=OuterRef("pk"))
        return super().in_turn().exclude(Exists(before))

    def following(self) -> models.QuerySet["ImportJob"]:
        return ImportJob.in_turn().filter(group=self.group, group__isnull=False, state=ImportJob.State.QUEUED)

    @property
    def leftover(self) -> Path | None:
        """What was uploaded; of an import that failed it is kept for a while, to be tried again."""
        path = Path(self.path)
        gone = self.state != ImportJob.State.FAILED and path.is_relative_to(settings.UPLOAD_ROOT)
        return path if gone else None

    @property
    def share(self) -> float | None:
        if self.state == Job.State.DONE:
            return 1.0
        return self.done_bytes / self.total_bytes if self.total_bytes else None

    @property
    def handled(self) -> int:
        return self.done_records

    @property
    def import_options(self) -> ImportOptions:
        return parse_options(self.options)

    @property
    def splitting(self) -> Splitting:
        """How the file's texts become steps."""
        return Splitting(self.decomposition, self.import_options.thinking)


class ImportRejection(models.Model):
    """One record that was not taken, with the reason."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejections")
    line = models.PositiveBigIntegerField(help_text="1-based line, or record number in a JSON array.")
    field = models.CharField(max_length=200, blank=True)
    reason = MessageField()
    excerpt = models.TextField(blank=True)
    original = models.BinaryField(null=True, help_text="The whole record as the file has it, where it is not too long.")

    class Meta:
        ordering = ["line", "id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"
