"""The solutions on which people disagree."""

from django.db.models import Count, QuerySet

from annotation.models import HIDDEN_LANES, Project, Solution
from annotation.work.annotations import is_adjudicated, own_opinions
from annotation.work.gold.designation import is_gold


def disagreements(project: Project) -> QuerySet[Solution]:
    """Undecided solutions on which people disagree about the first error; gold counts as decided."""
    known = own_opinions(project).filter(first_error__isnull=False).exclude(lane__in=HIDDEN_LANES)
    differing = known.values("solution").annotate(n=Count("first_error", distinct=True)).filter(n__gt=1)
    return Solution.objects.filter(project=project, pk__in=differing.values("solution")).filter(
        ~is_adjudicated(), ~is_gold()
    )
