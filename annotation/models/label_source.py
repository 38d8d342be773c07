from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.project import Project

MACHINES = frozenset({"model_judge", "monte_carlo", "heuristic"})  # kinds that never make gold or measure a model


class LabelSource(models.Model):
    """Where labels come from. Kinds are never pooled without saying so.

    `name` says which one: the labeller's pseudonym in an imported file, the judge model, the policy
    whose rollouts were counted; empty for the project's own annotators, and for the programs among its members.
    """

    class Kind(models.TextChoices):
        HUMAN = "human", _("Human")
        SIMULATED = "simulated", _("Simulated")
        CONSENSUS = "consensus", _("Consensus")
        MODEL_JUDGE = "model_judge", _("Model Judge")
        MONTE_CARLO = "monte_carlo", _("Monte Carlo")
        HEURISTIC = "heuristic", _("Heuristic")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_sources")
    kind = models.CharField(max_length=12, choices=Kind)
    name = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "name"], name="label_source_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["human", "simulated", "consensus", "model_judge", "monte_carlo", "heuristic"]),
                name="label_source_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()
