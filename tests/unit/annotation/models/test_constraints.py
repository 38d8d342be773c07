"""What the database rejects, whatever the Python above it does."""

import uuid

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from annotation.core import audit
from annotation.models import (
    Annotation,
    Lease,
    PathStep,
    Problem,
    QueueItem,
    Snapshot,
    Solution,
    StepRating,
    TrainingRun,
)
from tests.factories import (
    AnnotationFactory,
    GenerationFactory,
    MembershipFactory,
    ModelVersionFactory,
    ProjectFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db


def refused(act, name=""):
    """The act is refused, by the constraint of this name, at the latest when the transaction ends."""
    with pytest.raises(DatabaseError, match=name), transaction.atomic():
        _act_and_end(act)


def _act_and_end(act):
    act()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"wanted": 1, "leased": 1, "done": 1, "state": "full"}, "never_over_wanted"),
        ({"wanted": 1, "leased": 1, "state": "ready"}, "ready_has_place"),
        ({"inclusion_probability": 1.5}, "inclusion_is_probability"),
        ({"inclusion_probability": 0}, "inclusion_is_probability"),
        ({"lane": "holdout"}, "holdout_lane_is_holdout"),
        ({"lane": "calibration"}, "calibration_lane_is_calibration"),
    ],
)
def test_queue_items(fields, name):
    item = QueueItemFactory()
    refused(lambda: QueueItem.objects.filter(pk=item.pk).update(**fields), name)


def test_acquisition_takes_from_the_pool_only():
    solution = SolutionFactory(problem__split="holdout")
    generation = GenerationFactory(project=solution.project)
    for lane in ("acquisition", "control"):
        refused(lambda lane=lane: QueueItemFactory(generation=generation, solution=solution, lane=lane), "pool_only")
    assert QueueItemFactory(generation=generation, solution=solution, lane="holdout").pk


def test_a_split_cannot_be_told_otherwise():
    item = QueueItemFactory(solution__problem__split="holdout", lane="holdout")
    refused(lambda: QueueItem.objects.update(split="pool", lane="control"), "split_is_solutions")
    refused(lambda: Solution.objects.filter(pk=item.solution_id).update(split="pool"), "split_is")
    refused(lambda: Problem.objects.filter(pk=item.solution.problem_id).update(split="pool"), "split_is_problems")


def test_one_of_each():
    generation = GenerationFactory()
    project = generation.project
    refused(lambda: GenerationFactory(project=project), "one_open")
    ModelVersionFactory(project=project, state="champion")
    refused(lambda: ModelVersionFactory(project=project, state="champion"), "one_champion")
    TrainingRun.objects.create(project=project, number=1, trigger="manual", seed=1)
    refused(lambda: TrainingRun.objects.create(project=project, number=2, trigger="manual", seed=1), "one_live")
    membership = MembershipFactory(project=project)
    refused(lambda: MembershipFactory(project=project, user=membership.user), "once_per_project")
    refused(lambda: MembershipFactory(project=project, role="owner"), "role_known")


def test_nobody_holds_a_solution_twice():
    item, now = QueueItemFactory(), timezone.now()
    later = QueueItemFactory(
        generation=GenerationFactory(project=item.project, state="retired"), solution=item.solution
    )
    member = MembershipFactory(project=item.project)
    fields = {"solution": item.solution, "annotator": member, "claimed_at": now, "expires_at": now}
    Lease.objects.create(item=item, **fields)
    refused(lambda: Lease.objects.create(item=later, **fields), "solution_once_per_annotator")


@pytest.fixture
def annotation():
    annotation = AnnotationFactory()
    step = annotation.solution.steps.first()
    StepRating.objects.create(annotation=annotation, step=step, state="rated", rating=1)
    PathStep.objects.create(annotation=annotation, position=0, chosen=step)
    audit.record(by=None, action="test", target=annotation)
    Snapshot.objects.create(project=annotation.project, sha256="0" * 64, path="snapshot.jsonl")
    return annotation


@pytest.mark.parametrize("table", ["annotation", "steprating", "pathstep", "auditentry", "snapshot"])
@pytest.mark.parametrize("change", ["UPDATE annotation_{} SET id = id + 1000", "DELETE FROM annotation_{}"])
def test_what_was_handed_in_never_changes(annotation, table, change):
    def act():
        with connection.cursor() as cursor:
            cursor.execute(change.format(table))

    refused(act, "rows are immutable")
    assert Annotation.objects.filter(pk=annotation.pk).exists()


def test_the_erasure_of_a_person_may(annotation):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL stepmark.erasing = 'on'")
    assert Annotation.objects.update(comment="") == 1


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"finish_reason": "bored"}, "finish_reason_known"),
        ({"finish_reason": "give_up"}, "giving_up_has_reason"),
        ({"first_error": -2}, "first_error_is_position"),
    ],
)
def test_annotations(fields, name):
    refused(lambda: AnnotationFactory(**fields), name)


def test_a_revision_and_a_submission_happen_once():
    one = AnnotationFactory()
    same = {"solution": one.solution, "source": one.source, "annotator": one.annotator}
    refused(lambda: AnnotationFactory(**same), "revision_once")
    refused(lambda: AnnotationFactory(**same, revision=2, submission_id=one.submission_id), "submission_id")
    assert AnnotationFactory(**same, revision=2, submission_id=uuid.uuid4()).pk


@pytest.mark.parametrize(
    ("state", "rating"), [("rated", None), ("rated", 2), ("unsure", 1), ("not_reached", 0), ("skipped", None)]
)
def test_only_a_rated_step_has_a_rating(state, rating):
    annotation = AnnotationFactory()
    fields = {"annotation": annotation, "step": annotation.solution.steps.first()}
    refused(lambda: StepRating.objects.create(state=state, rating=rating, **fields), "only_where_rated")


def test_a_position_is_chosen_or_written():
    annotation = AnnotationFactory()
    fields = {"annotation": annotation, "position": 0, "chosen": annotation.solution.steps.first()}
    refused(lambda: PathStep.objects.create(own_text="mine", **fields), "chosen_or_own")


def test_a_project_with_annotations_cannot_be_deleted():
    annotation = AnnotationFactory()
    with pytest.raises(IntegrityError), transaction.atomic():
        annotation.project.delete()
    assert ProjectFactory().delete()
