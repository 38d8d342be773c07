"""A project with work in every state, and one person of each role: what the manager's pages show."""

import uuid
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.core.membership.members import add_member
from annotation.core.membership.projects import create_project
from annotation.core.wording import as_message
from annotation.models import (
    Annotation,
    Dispute,
    Generation,
    ImportJob,
    ImportRejection,
    LabelSource,
    Membership,
    ModelVersion,
    PathStep,
    Problem,
    Project,
    QueueItem,
    RunPoint,
    RunStage,
    Solution,
    Step,
    StepRating,
    TrainingRun,
)
from annotation.models.model_version import Measurement
from tests.factories import make_report, make_verdict


def create_people() -> dict[str, User]:
    """One user of each role, a stranger, and a superuser who is in no project; two are of the staff."""
    users = {name: User.objects.create_user(name) for name in ("annotator", "reviewer", "stranger")}
    users |= {name: User.objects.create_user(name, is_staff=True) for name in ("manager", "second")}
    users["superuser"] = User.objects.create_superuser("superuser")
    return users


def create_empty_project(people: dict[str, User]) -> Project:
    """A project without any work."""
    project = create_project(by=people["manager"], name="Algebra pilot", slug="algebra")
    for role in ("annotator", "reviewer"):
        add_member(by=people["manager"], project=project, user=people[role], role=role)
    return project


def fill(project: Project, people: dict[str, User]) -> None:
    """Three solutions in a generation, labels that disagree, a dispute, a run with its model, an import."""
    second = add_member(by=people["manager"], project=project, user=people["second"], role="annotator")
    first = Membership.objects.get(project=project, user=people["annotator"])
    solutions = [make_solution(project, n) for n in range(3)]
    _run, version = make_run(project, people["manager"])
    generation = Generation.objects.create(
        project=project,
        number=0,
        acquisition="random",
        mix={"control": 3},
        seed=1,
        budget=3,
        pool_size=3,
        model_version=version,
    )
    items = [
        QueueItem.objects.create(
            project=project, generation=generation, solution=s, split="pool", lane="control", rank=n, wanted=2
        )
        for n, s in enumerate(solutions)
    ]
    label(items[0], first, first_error=1)
    disputed = label(items[0], second, first_error=-1)
    Dispute.objects.create(project=project, annotation=disputed)
    job = ImportJob.objects.create(
        project=project, filename="algebra.jsonl", path="x", state="done", accepted=3, rejected=1, total_bytes=10
    )
    ImportRejection.objects.create(job=job, line=4, field="problem", reason="is missing", excerpt="{}")


def grow(project: Project, people: dict[str, User]) -> None:
    """Many more rows of everything."""
    generation = project.generations.get()
    member = Membership.objects.get(project=project, user=people["annotator"])
    for number in range(10, 30):
        solution = make_solution(project, number)
        item = QueueItem.objects.create(
            project=project, generation=generation, solution=solution, split="pool", lane="control", rank=number
        )
        Dispute.objects.create(project=project, annotation=label(item, member, first_error=-1))
        user = User.objects.create_user(f"member-{number}")
        Membership.objects.create(project=project, user=user, role="annotator")
        ModelVersion.objects.create(project=project, number=number, path="m", sha256=f"{number:064}")
        TrainingRun.objects.create(project=project, number=number, trigger="labels", state="failed", seed=1)
        ImportJob.objects.create(project=project, filename=f"{number}.jsonl", path="x", state="failed")


def make_solution(project: Project, number: int) -> Solution:
    problem = Problem.objects.create(
        project=project,
        text=f"What is {number} + {number}?",
        text_hash=f"{number:064}",
        source_group=str(number),
        split="pool",
        domain="arithmetic",
        reference_answer=str(2 * number),
    )
    solution = Solution.objects.create(
        project=project, problem=problem, split="pool", content_hash=f"{number:064}", generator="model-a"
    )
    Step.objects.bulk_create(Step(solution=solution, position=p, text=f"Step {p}") for p in range(3))
    return solution


def label(item: QueueItem, member: Membership, *, first_error: int) -> Annotation:
    """One label on an item; steps are good up to the first error."""
    source, _created = LabelSource.objects.get_or_create(project=item.project, kind="human", name="")
    annotation = Annotation.objects.create(
        project=item.project,
        solution=item.solution,
        source=source,
        annotator=member,
        item=item,
        lane=item.lane,
        submission_id=uuid.uuid4(),
        payload_hash="0" * 64,
        counted=True,
        finish_reason="found_error" if first_error >= 0 else "solution",
        first_error=first_error,
        total_ms=42_000,
        submitted_at=timezone.now(),
    )
    for step in item.solution.steps.all():
        if first_error < 0 or step.position <= first_error:
            rating = -1 if step.position == first_error else 1
            StepRating.objects.create(annotation=annotation, step=step, state="rated", rating=rating)
            chosen = step if rating == 1 else None
            PathStep.objects.create(annotation=annotation, position=step.position, chosen=chosen)
    item.done += 1
    item.state = "done" if item.done == item.wanted else "ready"
    item.save()
    return annotation


def make_run(project: Project, by: User) -> tuple[TrainingRun, ModelVersion]:
    promoted = as_message("Model 1 is promoted: ProcessBench F1 +8.0 points.")
    version = ModelVersion.objects.create(
        project=project,
        number=1,
        state="champion",
        path="m",
        sha256="a" * 64,
        promoted_at=timezone.now(),
        metrics=Measurement(challenger=make_report(0.62, 0.55, 0.69)),
        gate=make_verdict(sentence=promoted),
    )
    begun = timezone.now() - timedelta(seconds=90)
    run = TrainingRun.objects.create(
        project=project,
        number=1,
        state="done",
        trigger="manual",
        requested_by=by,
        seed=1,
        model_version=version,
        started_at=begun,
        finished_at=timezone.now(),
    )
    for order, name in enumerate(RunStage.Name):
        RunStage.objects.create(
            run=run, name=name, order=order, state="done", progress=1, started_at=begun, finished_at=begun
        )
    for step in range(5):
        RunPoint.objects.create(run=run, stage="train", step=step, of=5, loss=1 / (step + 1))
    return run, version
