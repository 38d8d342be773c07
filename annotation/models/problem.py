from django.db import models
from django.db.models import Q

from annotation.models import choices
from annotation.models.project import Project
from prm.vocabulary import SPLITS


class Problem(models.Model):
    """A problem with its reference. Numeric variants share a `source_group`, and therefore a split."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="problems", db_index=False)
    text = models.TextField()
    text_hash = models.CharField(max_length=64, help_text="SHA-256 of the normalised text.")
    source_group = models.CharField(max_length=200)
    split = models.CharField(max_length=12, choices=choices.SPLITS)
    domain = models.CharField(max_length=100, blank=True)
    reference_answer = models.TextField(null=True, blank=True)
    reference_solution = models.TextField(null=True, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "text_hash"], name="problem_once_per_project"),
            models.UniqueConstraint(fields=["id", "split"], name="problem_split_key"),
            models.CheckConstraint(condition=Q(split__in=SPLITS), name="problem_split_known"),
        ]
        indexes = [
            models.Index(fields=["project", "source_group"], name="problem_source_group"),
            models.Index(fields=["project", "domain"], name="problem_domain"),
        ]

    def __str__(self) -> str:
        return self.text[:80]
