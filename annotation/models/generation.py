from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.project import Project


class Generation(models.Model):
    """One round of the loop: a frozen, recorded selection of solutions that becomes queue items.

    `recipe` says how it was drawn: for each lane from how many candidates (`lanes`), the caps, the cost model, and
    what an acquisition function had to do without.
    """

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        RETIRED = "retired", _("Retired")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="generations")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    model_version = models.ForeignKey(
        "annotation.ModelVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="generations"
    )
    run = models.OneToOneField(
        "annotation.TrainingRun", null=True, blank=True, on_delete=models.PROTECT, related_name="generation"
    )
    acquisition = models.CharField(max_length=40)
    mix = models.JSONField(default=dict)
    recipe = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    budget = models.PositiveIntegerField()
    pool_size = models.PositiveIntegerField(default=0, help_text="How many solutions could have been chosen.")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="generation_number_once"),
            models.UniqueConstraint(
                fields=["project"], condition=Q(state="open"), name="generation_one_open_per_project"
            ),
        ]

    def __str__(self) -> str:
        return f"generation {self.number} of {self.project}"
