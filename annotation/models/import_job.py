from typing import Annotated, Any, Literal

import msgspec
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Exists, OuterRef

from annotation.core.storage import key_of
from annotation.models.job import Job
from annotation.models.message_field import MessageField
from annotation.models.project import Project
from prm.formats.mapping import Mapping
from prm.splitting import Splitting, Thinking

EmptySteps = Literal["keep", "refuse"]
NoSolution = Literal["refuse", "keep"]
SourceGroups = Literal["template", "text"]
LabelledBy = Literal["file", "model_judge", "monte_carlo", "heuristic", "simulated"]


class ImportOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How an import reads its file, in addition to the name of the format.

    - `mapping` maps the columns of a table; None if the format has no columns, or to use the proposed mapping.
    - `annotator` is the annotator of labels that name none.
    - `labelled_by` is the kind of labels that the file does not attribute to a machine; "file" is the format's default.
    - `empty_steps`: keep a step without text as an empty step, or refuse its record.
    - `no_solution`: refuse a record without a solution, or keep its problem, so that a policy can solve it.
    - `source_groups`: problems without a `source_group` share one if their texts differ only in numbers (`template`),
      or if they are equal (`text`).
    - `thinking`: what happens to hidden reasoning (`<think>`) in undivided solutions.
    """

    mapping: Mapping | None = None
    annotator: Annotated[str, msgspec.Meta(max_length=200)] = ""
    labelled_by: LabelledBy = "file"
    empty_steps: EmptySteps = "keep"
    no_solution: NoSolution = "refuse"
    source_groups: SourceGroups = "template"
    thinking: Thinking = "separate"


def parse_options(value: dict[str, Any]) -> ImportOptions:
    """The options in a JSON object. Raises msgspec.ValidationError, which names the field."""
    return msgspec.convert(value, ImportOptions)


class ImportGroup(models.Model):
    """Files that are imported together, one job after the other."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_groups")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class ImportJob(Job):
    """The import of one file. Counts are of records; the progress is in bytes."""

    KIND = "import"
    TASK = "intake.run"
    COUNTS = ("accepted", "duplicates", "rejected", "annotations")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_jobs")
    group = models.ForeignKey(ImportGroup, null=True, blank=True, on_delete=models.CASCADE, related_name="jobs")
    filename = models.CharField(max_length=300)
    path = models.CharField(max_length=2000, help_text="See annotation.files.places.")
    format = models.CharField(max_length=40, default="auto")
    decomposition = models.CharField(max_length=40, default="blank_lines")
    options = models.JSONField(default=dict, blank=True)
    total_bytes = models.PositiveBigIntegerField(default=0)
    done_bytes = models.PositiveBigIntegerField(default=0)
    done_records = models.PositiveBigIntegerField(default=0, help_text="Where a restarted import resumes.")
    accepted = models.PositiveBigIntegerField(default=0)
    duplicates = models.PositiveBigIntegerField(default=0)
    rejected = models.PositiveBigIntegerField(default=0)
    annotations = models.PositiveBigIntegerField(default=0)
    warnings = models.JSONField(default=dict, blank=True, help_text="Counts by name; see annotation.files.warnings.")

    def __str__(self) -> str:
        return f"import {self.pk} of {self.filename} ({self.state})"

    @classmethod
    def in_turn(cls) -> models.QuerySet["ImportJob"]:
        """The jobs that a worker may claim: in a group, only the first that has not ended."""
        before = cls.objects.filter(group=OuterRef("group"), state__in=cls.WORKED_ON, pk__lt=OuterRef("pk"))
        return super().in_turn().exclude(Exists(before))

    def following(self) -> models.QuerySet["ImportJob"]:
        return ImportJob.in_turn().filter(group=self.group, group__isnull=False, state=ImportJob.State.QUEUED)

    @property
    def leftover(self) -> str:
        """The key of the uploaded file; "" after a failure, because a person can retry the import for a while."""
        return "" if self.state == ImportJob.State.FAILED else key_of(self.path)

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
        """How the file's texts are split into steps."""
        return Splitting(self.decomposition, self.import_options.thinking)


class ImportRejection(models.Model):
    """A rejected record, with the reason."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="rejections")
    line = models.PositiveBigIntegerField(help_text="1-based line, or record number in a JSON array.")
    field = models.CharField(max_length=200, blank=True)
    reason = MessageField()
    excerpt = models.TextField(blank=True)
    original = models.BinaryField(null=True, help_text="The whole record as in the file, unless it is too long.")

    class Meta:
        ordering = ["line", "id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"
