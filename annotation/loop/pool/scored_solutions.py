"""The solutions of a project with their scores, as lists show them."""

from django.db.models import Case, Count, FilteredRelation, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from annotation.models import Annotation, ModelVersion, PoolScore, Project, Solution


def first_labels(project: Project) -> QuerySet[Annotation]:
    """The labels that `solutions_with_scores` counts: the first revision of each."""
    return Annotation.objects.filter(project=project, revision=1)


def solutions_with_scores(project: Project, version: ModelVersion | None) -> QuerySet[Solution]:
    """The solutions with their problem, `outcome` (in a word), number of `labels`, `score` and `gain`.

    Score and gain are those by `version`; null if it has not scored the solution. To order by them, use
    `scored__score` and `scored__gain`, which an index has.
    """
    first = Annotation.objects.filter(solution=OuterRef("pk"), revision=1).order_by()
    scores = PoolScore.objects.filter(solution=OuterRef("pk"), model_version=version)
    return project.solutions.select_related("problem").annotate(
        outcome=Case(
            When(final_answer_correct=True, then=Value("correct")),
            When(final_answer_correct=False, then=Value("wrong")),
            default=Value("unknown"),
        ),
        labels=Coalesce(Subquery(first.values("solution").annotate(n=Count("pk")).values("n")), 0),
        score=Subquery(scores.values("score")),
        gain=Subquery(scores.values("gain")),
        scored=FilteredRelation("pool_scores", condition=Q(pool_scores__model_version=version)),
    )
