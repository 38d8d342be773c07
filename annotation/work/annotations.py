"""Querysets of annotations: latest revisions, people's own opinions, first revisions, adjudications."""

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Annotation, Project
from prm.vocabulary import MACHINES


def latest_annotations(project: Project) -> QuerySet[Annotation]:
    """The latest revision of each annotation by the project's own annotators, without people from files."""
    return current_annotations(project).filter(annotator__user__isnull=False)


def current_annotations(project: Project) -> QuerySet[Annotation]:
    """The labels that lists show: the latest revision of each person's label, and every label by another source."""
    later = Annotation.objects.filter(
        solution=OuterRef("solution"), annotator=OuterRef("annotator"), revision__gt=OuterRef("revision")
    )
    return Annotation.objects.filter(~Exists(later), project=project)


def own_opinions(project: Project) -> QuerySet[Annotation]:
    """Each person's latest label that is not an adjudication, because an adjudicator has seen the other labels.

    People from files are included. Labels by programs among the members are left out.
    """
    opinions = Annotation.objects.filter(project=project, annotator__isnull=False, adjudicates=False)
    opinions = opinions.exclude(source__kind__in=MACHINES)
    later = opinions.filter(
        solution=OuterRef("solution"), annotator=OuterRef("annotator"), revision__gt=OuterRef("revision")
    )
    return opinions.exclude(Exists(later))


def is_adjudicated(solution: str = "pk") -> Exists:
    """Whether a solution is adjudicated, for querysets of solutions, or of rows whose field is the `solution`."""
    return Exists(Annotation.objects.filter(solution=OuterRef(solution), adjudicates=True))


def first_annotations(project: Project) -> QuerySet[Annotation]:
    """First revisions by the project's annotators, made before they could look up other labels or the reference."""
    return Annotation.objects.filter(project=project, annotator__user__isnull=False, revision=1)
