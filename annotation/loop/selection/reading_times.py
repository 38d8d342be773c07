"""The time a person needs to read a solution, fitted to logged times."""

from dataclasses import replace

from django.db.models import Count, Sum
from django.db.models.functions import Length

from annotation.loop.gateway.reading_costs import ReadingCost, fit_reading_cost
from annotation.models import Annotation, Project, StepRating

ENOUGH = 40
LOOKED_AT = 500
LONGEST_SECONDS = 600.0  # a longer one was a break, not reading


def cost_model(project: Project) -> ReadingCost:
    """The cost fitted to the project's latest annotations; the defaults if there are too few.

    It assumes that a person read the steps up to the one where they stopped, mostly the first error.
    """
    stops = project.label_scheme.stop_at_first_error
    latest = dict(
        Annotation.objects.filter(project=project, annotator__isnull=False, total_ms__gt=0)
        .filter(total_ms__lt=LONGEST_SECONDS * 1000)
        .order_by("-pk")
        .values_list("pk", "total_ms")[:LOOKED_AT]
    )
    read = (
        StepRating.objects.filter(annotation__in=list(latest))
        .exclude(state="not_reached")
        .values("annotation")
        .annotate(steps=Count("step__position", distinct=True), chars=Sum(Length("step__text")))
        .values_list("annotation", "steps", "chars")
        .order_by("annotation")
    )
    seen = [(ms / 1000, steps, chars) for pk, steps, chars in read if (ms := latest[pk])]
    if len(seen) < ENOUGH:
        return replace(ReadingCost(), stops_at_error=stops)
    seconds, steps, chars = zip(*seen, strict=True)
    return fit_reading_cost(seconds, steps, chars, stops_at_error=stops)
