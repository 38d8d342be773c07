from django.db import models
from django.db.models import Q

from annotation.models import choices
from annotation.models.project import Membership, Project
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


class MachineAnnotator(models.Model):
    """What labels as a machine member: a model with a version of its prompt.

    `source` is the source of its next labels; each version of the prompt of a model has its own, so that labels of two
    versions are never pooled silently. Machines of one `family` tend to make the same errors. `cost_per_label` is in
    the project's currency, null if unknown.
    """

    membership = models.OneToOneField(Membership, on_delete=models.CASCADE, related_name="machine")
    model_name = models.CharField(max_length=100)
    prompt_version = models.CharField(max_length=50)
    family = models.CharField(max_length=100)
    cost_per_label = models.FloatField(null=True, blank=True)
    source = models.ForeignKey(LabelSource, on_delete=models.PROTECT, related_name="machines")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(cost_per_label__isnull=True) | Q(cost_per_label__gte=0),
                name="machine_cost_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model_name}, prompt {self.prompt_version}"
