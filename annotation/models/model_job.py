import msgspec
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.job import Job, one_live
from annotation.models.message_field import MessageField
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project
from annotation.models.struct_field import StructField


class ImportedFolder(msgspec.Struct):
    """A folder of models/imports; for a token classifier, the separator after each step and the class of good steps."""

    folder: str
    separator: str = "\n"
    good: int = 1


class ModelJob(Job):
    """An audit, an export or an import of a model, which takes minutes in a subprocess of the library.

    An import has no version until it is done; `source` is its folder. `message` is the last line of the library's
    output.
    """

    class Kind(models.TextChoices):
        AUDIT = "audit", _("Audit")
        EXPORT = "export", _("Export")
        IMPORT = "import", _("Import")

    KIND = "model"
    TASK = "rounds.model_job"
    QUEUE = "gpu"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_jobs")
    model_version = models.ForeignKey(ModelVersion, null=True, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=6, choices=Kind)
    source: "StructField[ImportedFolder | None]" = StructField(ImportedFolder, null=True)
    message = MessageField()

    class Meta(Job.Meta):
        constraints = [one_live("model_version", "kind", name="model_job_one_live_of_a_kind")]

    @property
    def audit_name(self) -> str:
        return f"model.{self.kind}"

    @property
    def subject(self) -> models.Model:
        return self.model_version or self

    @property
    def outcome(self) -> str:
        outcome: str = self.error or self.message
        return outcome

    def __str__(self) -> str:
        return f"{self.kind} of {self.model_version or (self.source and self.source.folder)} ({self.state})"
