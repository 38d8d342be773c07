from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.job import Job, one_live
from annotation.models.message_field import MessageField
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project


class ModelJob(Job):
    """Work on a model that takes minutes, done in a subprocess of the library.

    An import has no version until it is done. `options` are the job's own: for an import its folder, the separator of
    its steps and the class of right ones. `said` is the last thing the library wrote.
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
    options = models.JSONField(default=dict)
    said = MessageField()

    class Meta(Job.Meta):
        constraints = [one_live("model_version", "kind", name="model_job_one_live_of_a_kind")]

    @property
    def called(self) -> str:
        return f"model.{self.kind}"

    @property
    def subject(self) -> models.Model:
        return self.model_version or self

    @property
    def outcome(self) -> str:
        outcome: str = self.error or self.said
        return outcome

    def __str__(self) -> str:
        return f"{self.kind} of {self.model_version or self.options.get('folder', 'a model')} ({self.state})"
