from django.db import models
from django.db.models import Q

from annotation.models import choices
from annotation.models.project import Project
from prm.vocabulary import SOURCE_KINDS


class LabelSource(models.Model):
    """Where labels come from. Kinds are pooled only if that is stated.

    `name` is the judge model, or the policy whose rollouts were counted, or the format of a file that names nobody. It
    is empty for labels by people and programs with a membership.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_sources")
    kind = models.CharField(max_length=12, choices=choices.SOURCE_KINDS)
    name = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "name"], name="label_source_once"),
            models.CheckConstraint(condition=Q(kind__in=SOURCE_KINDS), name="label_source_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()
