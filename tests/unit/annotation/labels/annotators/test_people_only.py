"""What is said of people leaves machine annotators out, which label the same solutions."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.labels.agreement.cube import agreement_of
from annotation.labels.annotators.batch_watch import timed_labels
from annotation.labels.annotators.own_work import LEAST, own_work
from annotation.labels.consensus.review_queue import to_review
from annotation.labels.labour.statistics import median_seconds
from annotation.models import StepRating
from annotation.work.gold.gold_answers import wear_of
from labelling_ui.selectors.progress import ratings_by_position, yield_by_generation
from tests.factories import (
    AnnotationFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    QueueItemFactory,
    SolutionFactory,
)
from tests.unit.annotation.work.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db


def test_a_machine_is_in_no_figure_about_people():
    person = MembershipFactory()
    project = person.project
    machine = MachineAnnotatorFactory(membership__project=project)
    yesterday = timezone.now() - timedelta(days=1, hours=1)

    def label(item, annotator, state, **fields):
        made = AnnotationFactory(
            solution=item.solution, annotator=annotator, item=item, lane=item.lane, submitted_at=yesterday, **fields
        )
        step = item.solution.steps.first()
        StepRating.objects.create(annotation=made, step=step, state=state, rating=1 if state == "rated" else None)

    first = QueueItemFactory(generation__project=project, solution=SolutionFactory(project=project))
    others = [QueueItemFactory(generation=first.generation) for _ in range(LEAST - 1)]
    for item in [first, *others]:
        label(item, person, "rated", total_ms=10_000)
        label(item, machine.membership, "unsure", total_ms=100, first_error=0, source=machine.source)

    assert agreement_of(project).pairs == 0
    assert own_work(person).peers is None
    assert not to_review(project).exists()
    assert {timed.who for timed in timed_labels(project)} == {f"annotator {person.pk}"}
    assert median_seconds(project) == 10.0
    assert ratings_by_position(project, positions=3) == [(0, "good", LEAST)]
    assert yield_by_generation(project) == [(first.generation.number, "control", 0, LEAST)]
    [gold] = make_gold(project, 1)
    assert (
        wear_of(project)[gold.solution_id].seen.of
        == project.memberships.filter(role="annotator", active=True, kind="person").count()
    )
