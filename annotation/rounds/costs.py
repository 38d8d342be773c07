"""What it takes a person to read a solution, from the times that were logged."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Sum
from django.db.models.functions import Length

from annotation.models import Annotation, Project, StepRating

ENOUGH = 40
LOOKED_AT = 500
LONGEST_SECONDS = 600.0  # a longer one was a break, not reading


@dataclass(frozen=True)
class ReadingCost:
    """Seconds to take up a solution and to decide on it, and seconds a character read.

    The defaults are those of careful reading, some 20 characters a second.
    """

    fixed: float = 8.0
    per_char: float = 0.05


def cost_model(project: Project) -> ReadingCost:
    """Fitted to the project's latest annotations, the defaults where there are too few."""
    latest = list(
        Annotation.objects.filter(project=project, annotator__isnull=False, total_ms__isnull=False)
        .order_by("-pk")
        .values_list("pk", "total_ms")[:LOOKED_AT]
    )
    if len(latest) < ENOUGH:
        return ReadingCost()
    read = dict(
        StepRating.objects.filter(annotation__in=[pk for pk, _ in latest])
        .exclude(state=StepRating.State.NOT_REACHED)
        .values_list("annotation")
        .annotate(chars=Sum(Length("step__text")))
        .order_by()
    )
    seen = [(read[pk], ms / 1000) for pk, ms in latest if ms and read.get(pk) and ms / 1000 < LONGEST_SECONDS]
    return fit(seen) if len(seen) >= ENOUGH else ReadingCost()


def fit(seen: list[tuple[int, float]]) -> ReadingCost:
    """Line through (characters, seconds) by repeated medians, which single breaks do not move.

    A fit that makes no sense (reading for free, or a negative start) keeps the default of that part.
    """
    chars, seconds = (np.array(column, dtype=float) for column in zip(*seen, strict=True))
    default = ReadingCost()
    if np.ptp(chars) == 0:
        return default
    rises = np.subtract.outer(seconds, seconds)
    runs = np.subtract.outer(chars, chars)
    slopes = np.divide(rises, runs, out=np.full_like(rises, np.nan), where=runs != 0)
    per_char = float(np.nanmedian(np.nanmedian(slopes, axis=1)))
    per_char = per_char if per_char > 0 else default.per_char
    fixed = float(np.median(seconds - per_char * chars))
    return ReadingCost(fixed=fixed if fixed > 0 else default.fixed, per_char=per_char)
