from django.contrib.auth.models import User
from django.db import models

from annotation.models.consensus_fit import ConsensusFit
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
