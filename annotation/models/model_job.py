from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.model_version import ModelVersion
from annotation.models.project import Project


class ModelJob(models.Model):
    """Work on a model that takes minutes, done in a subprocess of the library.

    An import has no version until it is done. `options` are the job's own: for an import its folder, the separator of
    its steps and the class of right ones. `said` is the last thing the library wrote.
    """

    class Kind(models.TextChoices):
        AUDIT = "audit", _("Audit")
        EXPORT = "export", _("Export")
        IMPORT = "import", _("Import")

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    LIVE = (State.QUEUED, State.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_jobs")
    model_version = models.ForeignKey(ModelVersion, null=True, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=6, choices=Kind)
    state = models.CharField(max_length=7, choices=State, default=State.QUEUED)
    options = models.JSONField(default=dict)
    said = models.TextField(blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    beaten_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["model_version", "kind"],
                condition=Q(state__in=["queued", "running"]),
                name="model_job_one_live_of_a_kind",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.model_version or self.options.get('folder', 'a model')} ({self.state})"
