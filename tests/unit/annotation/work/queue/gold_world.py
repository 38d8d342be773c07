"""A project with gold in it, and people who answer what they are given."""

from annotation.models import GoldAnswer
from annotation.work.claiming import claim_next
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.submission import submit_annotation
from tests.factories import AnnotationFactory, LabelSourceFactory, SolutionFactory, uuid


def make_gold(project, count, *, first_error=1):
    """Solutions of three steps whose first error is known from a file."""
    source = LabelSourceFactory(project=project, kind="human", name="expert")
    found = []
    for _ in range(count):
        solution = SolutionFactory(project=project)
        reference = AnnotationFactory(
            solution=solution,
            annotator=None,
            source=source,
            first_error=first_error,
            finish_reason="solution" if first_error < 0 else "found_error",
        )
        found.append(GoldAnswer.objects.create(project=project, solution=solution, annotation=reference))
    return found


def claim(member, *holding):
    return claim_next(by=member.user, project=member.project, holding=list(holding))


def answer(member, lease, *, first_error=1, based_on=0):
    """Hand in a lease, or revise what was handed in: good up to the first error."""
    steps = list(lease.solution.steps.order_by("position"))
    read = steps if first_error < 0 else steps[: first_error + 1]
    submission = Submission(
        submission_id=uuid.uuid4(),
        solution=lease.solution_id,
        lease=lease.pk,
        based_on=based_on,
        finish_reason="solution" if first_error < 0 else "found_error",
        path=[
            GivenPosition(
                position=step.position,
                chosen=None if step.position == first_error else step.pk,
                ratings=[GivenRating(step=step.pk, state="rated", rating=-1 if step.position == first_error else 1)],
            )
            for step in read
        ],
    )
    return submit_annotation(by=member.user, project=member.project, submission=submission).annotation


def work(member, times, *, first_error=1):
    """Claim and answer in turn; returns the lanes, until there is nothing."""
    lanes = []
    for _ in range(times):
        lease = claim(member).lease
        if lease is None:
            break
        lanes.append(lease.item.lane)
        answer(member, lease, first_error=first_error)
    return lanes
