"""Labels of judges and of Monte Carlo estimates."""

import uuid
from collections.abc import Sequence
from typing import Any, cast

from django.db import transaction
from django.db.models import Max

from annotation.loop.judging.chosen_solutions import rollout_source
from annotation.loop.judging.ledger import count_solution
from annotation.loop.judging.replies import Verdict
from annotation.models import Annotation, JudgedSolution, JudgingRun, LabelScheme, LabelSource, Step
from annotation.work.labelling.annotation_rows import write_annotation
from annotation.work.labelling.payload import Dimensions, GivenPosition, GivenRating, Submission
from prm.formats.labels import rated_label
from prm.formats.record import RecordAnnotation
from prm.vocabulary import NO_ERROR, StepKind

NAMESPACE = uuid.UUID("5f9f6f0b-5a66-4b1c-8f0e-6a7d3c6d9b17")


def submission_of(
    judged: JudgedSolution, verdict: Verdict, steps: Sequence[Step], scheme: LabelScheme, *, lease: int | None = None
) -> Submission:
    """The verdict as a label of the solution, which ends at the first error if the project's labels do."""
    ratings, error = list(verdict.ratings), verdict.first_error
    if error != NO_ERROR and scheme.stop_at_first_error:
        ratings = ratings[: error + 1]
    ends = error if len(ratings) < len(steps) or scheme.stop_at_first_error else NO_ERROR
    path = []
    for step, rating in zip(steps, ratings, strict=False):
        given = [] if rating is None else [_rating(step, rating, verdict.reasons.get(step.position, ""), scheme)]
        path.append(GivenPosition(step.position, chosen=None if step.position == ends else step.pk, ratings=given))
    return Submission(
        submission_id=_submission_id(judged),
        solution=judged.solution_id,
        finish_reason=_conclusion(verdict, steps).finish_reason,
        path=path,
        lease=lease,
    )


def giving_up(judged: JudgedSolution, error: str, *, lease: int) -> Submission:
    """A label that gives the solution up, so that the queue hands it to a person if its route allows that."""
    return Submission(
        submission_id=_submission_id(judged),
        solution=judged.solution_id,
        finish_reason="give_up",
        path=[],
        lease=lease,
        reason=str(error),
    )


@transaction.atomic
def store_label(
    judged: JudgedSolution, verdict: Verdict, steps: Sequence[Step], *, source: LabelSource, native: dict[str, Any]
) -> None:
    """Store the verdict as a label outside the queue, as an import does, and the solution as done."""
    run = judged.run
    earlier = Annotation.objects.filter(solution=judged.solution_id, source=source, annotator=run.annotator_id)
    annotation = write_annotation(
        submission_of(judged, verdict, steps, run.project.label_scheme),
        run.project_id,
        run.annotator_id,
        None,
        None,
        kind=source.kind,
        source=source.pk,
        revision=(earlier.aggregate(latest=Max("revision"))["latest"] or 0) + 1,
        counted=False,
        adjudicates=False,
        first_error=_conclusion(verdict, steps).first_error,
        native=native,
    )
    if annotation is not None:  # else another worker has just stored it
        finish(judged, annotation)


def finish(judged: JudgedSolution, annotation: Annotation) -> None:
    """Mark the solution as labelled; call it inside the transaction of the label."""
    count_solution(judged, "labelled")
    judged.state, judged.annotation, judged.error = JudgedSolution.State.DONE, annotation, ""
    judged.save(update_fields=["state", "annotation", "error"])


def source_of(run: JudgingRun) -> LabelSource:
    """The source of the run's labels: the judge, or the policy with its number of rollouts."""
    if run.annotator is not None:
        source: LabelSource = run.annotator.machine.source
        return source
    source, _ = LabelSource.objects.get_or_create(
        project=run.project,
        kind="monte_carlo",
        name=rollout_source(run),
        defaults={"detail": {"policy": run.model, "rollouts": run.rollouts}},
    )
    return source


def _submission_id(judged: JudgedSolution) -> uuid.UUID:
    """The same for every attempt, so that a solution gets one label of a run."""
    return uuid.uuid5(NAMESPACE, f"{judged.run_id} {judged.solution_id}")


def _conclusion(verdict: Verdict, steps: Sequence[Step]) -> RecordAnnotation:
    ratings = [*verdict.ratings, *[None] * (len(steps) - len(verdict.ratings))]
    return rated_label(ratings, kind="model_judge", name="", kinds=[cast(StepKind, step.kind) for step in steps])


def _rating(step: Step, rating: int, reason: str, scheme: LabelScheme) -> GivenRating:
    """A rating; the reason for an error is its critique if the project asks for one, else a comment."""
    if rating != -1 or not reason:
        return GivenRating(step.pk, "rated", rating)
    if scheme.critique == "written":
        return GivenRating(step.pk, "rated", rating, dimensions=Dimensions(critique=reason))
    return GivenRating(step.pk, "rated", rating, comment=reason)
