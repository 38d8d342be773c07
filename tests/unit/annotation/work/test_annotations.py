"""How the latest revisions of labels are found."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.labels.agreement.contrast import disagreed
from annotation.work.annotations import current_annotations
from tests.factories import AnnotationFactory, MembershipFactory, ProjectFactory, SolutionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return ProjectFactory()


def test_only_the_last_of_several_revisions_is_current(project):
    solution, other = SolutionFactory.create_batch(2, project=project)
    person, second = MembershipFactory.create_batch(2, project=project)
    first = AnnotationFactory(project=project, solution=solution, annotator=person)
    for revision in (2, 3):
        last = AnnotationFactory(
            project=project, solution=solution, annotator=person, source=first.source, revision=revision
        )
    beside = AnnotationFactory(project=project, solution=solution, annotator=second, source=first.source)
    # A file can begin with a later revision.
    elsewhere = AnnotationFactory(project=project, solution=other, annotator=person, source=first.source, revision=4)
    assert set(current_annotations(project)) == {last, beside, elsewhere}


def test_later_revisions_are_found_among_the_few_revised_labels(project):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
    assert "annotation_later_revision" in current_annotations(project).explain()


def test_labels_are_compared_by_an_index_alone(project):
    # Which index an almost empty table is read by is chance, so this compares columns.
    with CaptureQueriesContext(connection) as asked:
        assert disagreed(project) == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_indexdef('annotation_first_errors'::regclass)")
        (definition,) = cursor.fetchone()
    named = set(re.findall(r'"annotation_annotation"\."(\w+)"', asked[0]["sql"]))
    assert named
    assert named <= set(re.findall(r"\w+", definition))
