import msgspec
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.project import Project
from annotation.models.routing_policy import RouteRule
from annotation.models.struct_field import StructField
from prm.acquisition import CostModel
from prm.answers.noise import AnswerNoise
from prm.messages import Message


class LaneRecipe(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a lane's items were drawn, and from how many solutions.

    A ranked lane also has its limits per problem and per domain (a share), the cost model, the number of solutions
    without the outcome that its function needs, and the number that the `backbone` read if it ranked without labels.
    `noise` is that of the final answers' grades, if the function weighs them.
    """

    from_: int = msgspec.field(name="from")
    drawn: int
    how: str
    max_per_problem: int | None = None
    max_domain_share: float | None = None
    cost: CostModel | None = None
    without_outcome: int | None = None
    noise: AnswerNoise | None = None
    read: int | None = None
    backbone: str = ""


class Recipe(msgspec.Struct, omit_defaults=True):
    """How a generation was drawn; `note` says why it was not drawn as the policy asks. Items name their rule of
    `routes` by its place."""

    lanes: dict[str, LaneRecipe] = {}
    routes: list[RouteRule] = []
    note: Message | None = None


class Generation(models.Model):
    """One round of the loop: a frozen, recorded selection of solutions that becomes queue items."""

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
    recipe: "StructField[Recipe]" = StructField(Recipe, default=Recipe)
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
