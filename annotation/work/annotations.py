"""Which annotations stand: the latest revisions, people's own opinions, first words, decisions."""

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Annotation, Project
from prm.vocabulary import MACHINES


def latest_annotations(project: Project) -> QuerySet[Annotation]:
    """The project's annotations by its own annotators, without revisions that were replaced."""
    later = Annotation.objects.filter(
        solution=OuterRef("solution"), annotator=OuterRef("annotator"), revision__gt=OuterRef("revision")
    )
    return Annotation.objects.filter(project=project, annotator__isnull=False).exclude(Exists(later))


def own_opinions(project: Project) -> QuerySet[Annotation]:
    """Each person's latest label that is their own opinion: an adjudicator has seen the other labels.

    Labels of programs among the members are left out.
    """
    words = Annotation.objects.filter(project=project, annotator__isnull=False, adjudicates=False)
    words = words.exclude(source__kind__in=MACHINES)
    later = words.filter(
        solution=OuterRef("solution"), annotator=OuterRef("annotator"), revision__gt=OuterRef("revision")
    )
    return words.exclude(Exists(later))


def is_adjudicated() -> Exists:
    """Whether somebody has decided on a solution, for querysets of solutions."""
    return Exists(Annotation.objects.filter(solution=OuterRef("pk"), adjudicates=True))


def first_annotations(project: Project) -> QuerySet[Annotation]:
    """What the project's annotators handed in before they could look anything up: first revisions alone."""
    return Annotation.objects.filter(project=project, annotator__isnull=False, revision=1)
