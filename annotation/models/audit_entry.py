from django.contrib.auth.models import User
from django.db import models

from annotation.models.project import Project


class AuditEntry(models.Model):
    """A change: who made it, and the state before and after. Rows never change."""

    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_entries", db_index=False
    )
    by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=60)
    target_type = models.CharField(max_length=60)
    target_id = models.CharField(max_length=60)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["target_type", "target_id"], name="audit_by_target"),
            models.Index(fields=["project", "at"], name="audit_by_time"),
            models.Index(fields=["project", "action"], name="audit_by_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_type} {self.target_id}"
