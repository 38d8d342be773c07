from django.db import models
from django.db.models import Q

from annotation.models.label_source import LabelSource
from annotation.models.project import Membership


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
