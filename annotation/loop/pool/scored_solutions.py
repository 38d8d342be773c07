"""The solutions of a project with their scores, as lists show them."""

from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.models import Annotation, ModelVersion, PoolScore, Project, Solution


def solutions_with_scores(project: Project, version: ModelVersion | None) -> QuerySet[Solution]:
    """The solutions with their problem, the number of their `labels` (null for none), and `score` and `gain`.

    Score and gain are those by `version`; null if it has not scored the solution.
    """
    first = Annotation.objects.filter(solution=OuterRef("pk"), revision=1).order_by()
    scores = PoolScore.objects.filter(solution=OuterRef("pk"), model_version=version)
    return project.solutions.select_related("problem").annotate(
        labels=Subquery(first.values("solution").annotate(n=Count("pk")).values("n")),
        score=Subquery(scores.values("score")),
        gain=Subquery(scores.values("gain")),
    )
