"""How far a project is."""

from dataclasses import dataclass
from datetime import date

from django.db.models import Sum
from django.utils import timezone

from annotation.models import Generation, Project
from annotation.work.annotations import latest_annotations
from labelling_ui.selectors.label_counts import forecast


@dataclass(frozen=True)
class Progress:
    """Of the open generation: labels done and wanted; `total` counts the labels of the whole project."""

    generation: Generation | None
    done: int
    wanted: int
    total: int
    finished_on: date | None


def progress_of(project: Project, labels: list[tuple[date, int]]) -> Progress:
    """`labels` are those of the last days, for the forecast."""
    generation = project.generations.filter(state=Generation.State.OPEN).first()
    sums = generation.items.aggregate(done=Sum("done"), wanted=Sum("wanted")) if generation else {}
    done, wanted = sums.get("done") or 0, sums.get("wanted") or 0
    return Progress(
        generation=generation,
        done=done,
        wanted=wanted,
        total=latest_annotations(project).count(),
        finished_on=forecast(remaining=wanted - done, labels=labels, now=timezone.now()),
    )
