"""Steps that one key accepts together: that it stays told of them, from the submission to the dataset and back."""

import uuid

import msgspec
import pytest

from annotation.core.errors import DomainError
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.reading import read_solutions
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Membership, StepRating
from annotation.work.claiming import claim_next
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.revisions import as_submitted, find_latest
from annotation.work.labelling.submission import submit_annotation
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db


def annotator_of(**scheme):
    generation = GenerationFactory(project__scheme=scheme)
    QueueItemFactory(generation=generation, solution__steps=["We add.", "2 + 2 = 4."])
    return MembershipFactory(project=generation.project)


def submit(membership, *said):
    """`said` are rating and accepted of each step."""
    lease = claim_next(by=membership.user, project=membership.project, holding=[]).lease
    path = [
        GivenPosition(
            position=step.position,
            chosen=step.pk if rating == 1 else None,
            ratings=[
                GivenRating(step=step.pk, state="rated", rating=rating, **({"accepted": True} if accepted else {}))
            ],
        )
        for step, (rating, accepted) in zip(lease.solution.steps.all(), said, strict=True)
    ]
    finish = "solution" if said[-1][0] == 1 else "found_error"
    given = Submission(submission_id=uuid.uuid4(), solution=lease.solution_id, finish_reason=finish, path=path)
    return submit_annotation(by=membership.user, project=membership.project, submission=given).annotation


def test_what_was_accepted_stays_told():
    annotator = annotator_of()
    label = submit(annotator, (1, False), (1, True))
    assert list(StepRating.objects.order_by("step__position").values_list("accepted", flat=True)) == [False, True]

    given = as_submitted(find_latest(by=annotator.user, project=annotator.project, solution_id=label.solution_id))
    assert [place.ratings[0].accepted for place in given.path] == [msgspec.UNSET, True]

    [(_, _, [read])] = read_solutions([label.solution_id], batches_set_aside=False)
    assert [place.ratings[0].accepted for place in read.annotation.path] == [False, True]

    manager = MembershipFactory(project=annotator.project, role=Membership.Role.MANAGER)
    snapshot = create_snapshot(by=manager.user, project=annotator.project, filters={})
    assert snapshot.counts["accepted"] == 1
    assert "not rated good one by one: 1." in dataset_card(snapshot)


@pytest.mark.parametrize(
    ("scheme", "said", "field"),
    [
        ({"offer_accepting": False}, [(1, True), (1, False)], "path[0].ratings[0].accepted"),
        ({}, [(1, True), (-1, True)], "path[1].ratings[0].accepted"),
    ],
)
def test_only_what_the_project_offers_and_what_is_good_is_accepted(scheme, said, field):
    with pytest.raises(DomainError) as refused:
        submit(annotator_of(**scheme), *said)
    assert refused.value.extra["field"] == field
