from typing import Annotated

import msgspec
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import about
from annotation.models.project import Project
from annotation.models.routing_policy import RouteRule
from annotation.models.struct_field import StructField
from prm.acquisition import CostModel
from prm.answers.noise import AnswerNoise
from prm.messages import Message


class LaneRecipe(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a lane's items were drawn, and from how many solutions."""

    from_: Annotated[int, about("Number of solutions to draw from.")] = msgspec.field(name="from")
    drawn: Annotated[int, about("Number of solutions that were drawn.")]
    how: Annotated[str, about("How they were drawn.")]
    max_per_problem: Annotated[int | None, about("The most solutions of one problem; null for no limit.")] = None
    max_domain_share: Annotated[float | None, about("The largest share of one domain; null for no limit.")] = None
    cost: Annotated[CostModel | None, about("The model of labelling time; null if none was used.")] = None
    without_outcome: Annotated[
        int | None, about("Number of solutions without the outcome that the function needs; null if it needs none.")
    ] = None
    noise: Annotated[
        AnswerNoise | None, about("The noise of the final answers' grades; null if the function does not weigh them.")
    ] = None
    read: Annotated[int | None, about("Number of solutions that the backbone read.")] = None
    backbone: Annotated[str, about("The backbone that read the solutions, if they were ranked without labels.")] = ""


class Recipe(msgspec.Struct, omit_defaults=True):
    """How a generation was drawn. Items name their rule of `routes` by its place."""

    lanes: Annotated[dict[str, LaneRecipe], about("How each lane was drawn.")] = {}
    routes: Annotated[list[RouteRule], about("The routing rules of the project at the draw.")] = []
    note: Annotated[Message | None, about("Why it was not drawn as the policy asks; null if it was.")] = None


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
