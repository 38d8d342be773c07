"""What may be marked in a step's text, and that it is kept."""

import uuid

import msgspec
import pytest

from annotation.core.errors import DomainError
from annotation.work.claiming import claim_next
from annotation.work.labelling.payload import GivenPosition, GivenRating, GivenSpan, Submission
from annotation.work.labelling.revisions import as_submitted, find_latest
from annotation.work.labelling.submission import submit_annotation
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db
STEPS = ["We add.", "2 + 2 = 🤔 5.", "The answer is 5."]  # the second has 12 characters, one of them outside the BMP
LENGTH = 12


@pytest.fixture
def annotator():
    generation = GenerationFactory(project__scheme={"error_types": ["slip"]})
    QueueItemFactory(generation=generation, solution__steps=STEPS)
    return MembershipFactory(project=generation.project)


def submit(membership, *spans, state="rated", rating=-1):
    lease = claim_next(by=membership.user, project=membership.project, holding=[]).lease
    first, second, _ = lease.solution.steps.all()
    said = GivenRating(step=second.pk, state=state, rating=rating, spans=list(spans))
    path = [
        GivenPosition(position=0, chosen=first.pk, ratings=[GivenRating(step=first.pk, state="rated", rating=1)]),
        GivenPosition(position=1, chosen=second.pk if rating == 1 else None, ratings=[said]),
    ]
    submission = Submission(
        submission_id=uuid.uuid4(),
        solution=lease.solution_id,
        finish_reason="found_error" if rating == -1 else "give_up",
        reason="" if rating == -1 else "long",
        path=path,
    )
    return submit_annotation(by=membership.user, project=membership.project, submission=submission).annotation


def test_what_is_marked_comes_back_to_be_revised(annotator):
    marked = [GivenSpan(8, LENGTH - 1, "slip", "It is four."), GivenSpan(0, LENGTH)]
    solution = submit(annotator, *marked).solution_id
    latest = find_latest(by=annotator.user, project=annotator.project, solution_id=solution)
    [said] = as_submitted(latest).path[1].ratings
    assert said.spans == marked
    [unmarked] = as_submitted(latest).path[0].ratings
    assert unmarked.spans is msgspec.UNSET


@pytest.mark.parametrize(
    ("span", "said", "field"),
    [
        (GivenSpan(3, 3), {}, "end"),
        (GivenSpan(5, 4), {}, "end"),
        (GivenSpan(0, LENGTH + 1), {}, "end"),
        (GivenSpan(0, 1, "typo"), {}, "error_type"),
        (GivenSpan(0, 1, "slip"), {"rating": 1}, "error_type"),
        (GivenSpan(0, 1), {"state": "not_reached", "rating": None}, ""),
    ],
)
def test_what_is_not_there_cannot_be_marked(annotator, span, said, field):
    with pytest.raises(DomainError) as refused:
        submit(annotator, GivenSpan(0, 1), span, **said)
    place = "path[1].ratings[0].spans[1]" if field else "path[1].ratings[0].spans[0]"
    assert (refused.value.code, refused.value.extra["field"]) == (
        "invalid_submission",
        f"{place}.{field}" if field else place,
    )


def test_a_submission_that_marks_nothing_has_the_hash_it_always_had():
    """So that a retry of what was sent before spans were known is still a retry."""
    said = GivenRating(step=10, state="rated", rating=-1, error_type="slip")
    submission = Submission(
        submission_id=uuid.UUID(int=7),
        solution=3,
        finish_reason="found_error",
        path=[GivenPosition(position=0, dwell_ms=40, ratings=[said])],
        lease=5,
    )
    assert submission.payload_hash == "227259b3b869dd05f8b7fbbbec6ac63927eac8f1c5dd0cfeac0661331c2647e6"
