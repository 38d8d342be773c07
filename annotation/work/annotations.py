"""Querysets of annotations: latest revisions, people's own opinions, first revisions, adjudications."""

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import FIRST_REVISION, Annotation, Project
from prm.vocabulary import MACHINES


def latest_annotations(project: Project) -> QuerySet[Annotation]:
    """The latest revision of each annotation by the project's own annotators, without people from files."""
    return current_annotations(project).filter(annotator__user__isnull=False)


def current_annotations(project: Project) -> QuerySet[Annotation]:
    """The labels that lists show: the latest revision of each person's label, and every label by another source."""
    return Annotation.objects.filter(~Exists(_later(Annotation.objects.all())), project=project)


def own_opinions(project: Project) -> QuerySet[Annotation]:
    """Each person's latest label that is not an adjudication, because an adjudicator has seen the other labels.

    People from files are included. Labels by programs among the members are left out.
    """
    opinions = Annotation.objects.filter(project=project, annotator__isnull=False, adjudicates=False)
    opinions = opinions.exclude(source__kind__in=MACHINES)
    return opinions.exclude(Exists(_later(opinions)))


def _later(labels: QuerySet[Annotation]) -> QuerySet[Annotation]:
    """The labels that revise the label of an outer query.

    Naming the few revisions after the first keeps the database from searching for a later one label by label: the index
    annotation_later_revision has no others.
    """
    revised = labels.filter(solution=OuterRef("solution"), annotator=OuterRef("annotator"))
    return revised.filter(revision__gt=OuterRef("revision")).filter(revision__gt=FIRST_REVISION)


def is_adjudicated(solution: str = "pk") -> Exists:
    """Whether a solution is adjudicated, for querysets of solutions, or of rows whose field is the `solution`."""
    return Exists(Annotation.objects.filter(solution=OuterRef(solution), adjudicates=True))


def first_annotations(project: Project) -> QuerySet[Annotation]:
    """First revisions by the project's annotators, made before they could look up other labels or the reference."""
    return Annotation.objects.filter(project=project, annotator__user__isnull=False, revision=1)
