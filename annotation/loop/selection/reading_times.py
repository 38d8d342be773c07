"""Estimates the time that a person needs to read a solution, from logged times."""

import msgspec
from django.db.models import Count, Sum
from django.db.models.functions import Length

from annotation.models import Annotation, Project, StepRating
from prm.acquisition import CostModel, fit_cost

ENOUGH = 40  # annotations for a fit
LATEST = 500  # annotations that a fit uses
LONGEST_SECONDS = 600.0  # a longer time includes a break
CAREFUL = CostModel(fixed_seconds=8.0, seconds_per_step=1.0, seconds_per_char=0.05)  # 20 characters a second


def cost_model(project: Project) -> CostModel:
    """The cost model fitted to the latest labels by the project's annotators, or that of careful reading if too few.

    The fit assumes that people read up to the step where they stopped, which is mostly the first error.
    """
    stops = project.label_scheme.stop_at_first_error
    latest = dict(
        Annotation.objects.filter(project=project, annotator__user__isnull=False, total_ms__gt=0)
        .filter(total_ms__lt=LONGEST_SECONDS * 1000)
        .order_by("-pk")
        .values_list("pk", "total_ms")[:LATEST]
    )
    amounts = (
        StepRating.objects.filter(annotation__in=list(latest))
        .exclude(state="not_reached")
        .values("annotation")
        .annotate(steps=Count("step__position", distinct=True), chars=Sum(Length("step__text")))
        .values_list("annotation", "steps", "chars")
        .order_by("annotation")
    )
    readings = [(ms / 1000, steps, chars) for pk, steps, chars in amounts if (ms := latest[pk])]
    cost = CAREFUL if len(readings) < ENOUGH else fit_cost(*zip(*readings, strict=True))
    return msgspec.structs.replace(cost, stops_at_error=stops)
