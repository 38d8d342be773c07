"""Which problems a policy is asked to solve."""

from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet

from annotation.loop import registry
from annotation.models import Annotation, Problem, Project, SamplingRun

Choice = SamplingRun.Choice


def chosen_problems(project: Project, *, choice: str, domain: str, most: int | None) -> list[int]:
    """The ids of at most `most` problems in the order they are sampled; of one domain if `domain` is set."""
    problems = Problem.objects.filter(project=project)
    if domain:
        problems = problems.filter(domain=domain)
    return list(_ordered(project, problems, choice).values_list("pk", flat=True)[:most])


def domains_of(project: Project) -> list[str]:
    """The domains that problems of the project have."""
    named = Problem.objects.filter(project=project).exclude(domain="").order_by("domain")
    return list(named.values_list("domain", flat=True).distinct())


def _ordered(project: Project, problems: QuerySet[Problem], choice: str) -> QuerySet[Problem]:
    match choice:
        case Choice.UNLABELLED:
            labelled = Annotation.objects.filter(solution__problem=OuterRef("pk"))
            return problems.filter(~Exists(labelled)).order_by("pk")
        case Choice.FEWEST:
            return problems.annotate(solved=Count("solutions")).order_by("solved", "pk")
        case Choice.UNCERTAIN:
            champion = registry.champion_of(project)
            by_champion = Q(solutions__pool_scores__model_version=champion)
            gain = Avg("solutions__pool_scores__gain", filter=by_champion)
            return problems.annotate(gain=gain).order_by(F("gain").desc(nulls_last=True), "pk")
        case _:
            return problems.order_by("pk")
