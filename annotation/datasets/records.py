"""A project's solutions and labels as records, in a stream of bounded memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import cast

import msgspec
from django.db import connection, transaction
from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Prefetch, Q, QuerySet

from annotation.datasets.filters import SnapshotFilters
from annotation.formats.provenance import OutcomeSource
from annotation.formats.record import (
    Completion,
    FinishReason,
    PathPosition,
    Rating,
    RatingState,
    Record,
    RecordAnnotation,
    SourceKind,
    StepKind,
)
from annotation.models import Annotation, PathStep, Project, Solution, Step, StepRating
from annotation.quality.batches import is_set_aside
from annotation.quality.consensus import consensus_of, reliability_of, with_reliability
from annotation.quality.gold import is_gold
from annotation.quality.reliability import Reliability

AT_ONCE = 200  # solutions held in memory


def stream_records(*, project: Project, filters: SnapshotFilters) -> Iterator[Record]:
    """The records that the filters ask for, by solution, each with the consensus of the labels it holds.

    All of them are of one moment. People stand under their pseudonyms; comments and the reasons they gave
    are left out. How reliable each is, where the consensus asks for it, is learned from these labels alone.
    """
    with _one_moment():
        reliability = _reliability(project, filters) if filters.consensus == "reliability" else None
        for solution in _solutions(project, filters).iterator(chunk_size=AT_ONCE):
            record = _record(solution)
            latest, kept = _labels(solution, filters)
            if len(kept) >= filters.min_annotations:
                record.annotations = [with_reliability(one, reliability) for one in kept] if reliability else kept
                record.consensus = consensus_of(latest, reliability)
                yield record


def _reliability(project: Project, filters: SnapshotFilters) -> Reliability | None:
    """From the solutions that several labelled, that somebody adjudicated, or that are gold."""
    several = Solution.objects.annotate(words=Count("annotations")).filter(words__gt=1).values("pk")
    settled = Annotation.objects.filter(project=project, adjudicates=True).values("solution")
    shared = _solutions(project, filters).filter(Q(pk__in=several) | Q(pk__in=settled))

    def latest() -> Iterator[Record]:
        for solution in shared.iterator(chunk_size=AT_ONCE):
            record = _record(solution)
            record.annotations, _ = _labels(solution, filters)
            yield record

    gold = _gold(project, filters)
    truths = {record.solution_id: truth for record, truth in gold}
    return reliability_of(chain(latest(), (record for record, _ in gold)), truths)


def _gold(project: Project, filters: SnapshotFilters) -> list[tuple[Record, RecordAnnotation]]:
    """What was answered on each gold solution by the kinds of givers that are asked for, and its reference."""
    asked = msgspec.structs.replace(filters, splits=[], generations=[], lanes=["screening", "gold"])
    found = []
    for solution in _solutions(project, asked).filter(is_gold()).select_related("gold_answer", "problem"):
        record = _record(solution)
        record.annotations, _ = _labels(solution, asked)
        places = {step.pk: (step.position, step.alternative) for step in solution.steps.all()}
        [truth] = (label for label in solution.annotations.all() if label.pk == solution.gold_answer.annotation_id)
        found.append((record, _annotation(truth, places)))
    return found


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction that sees one state of the database; inside another one, that one's view has to do."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def _solutions(project: Project, filters: SnapshotFilters) -> QuerySet[Solution]:
    labels = (
        Annotation.objects.select_related("source", "annotator", "item__generation")
        .annotate(set_aside=ExpressionWrapper(is_set_aside(), output_field=BooleanField()))
        .prefetch_related(
            Prefetch("path", PathStep.objects.order_by("position")),
            Prefetch("ratings", StepRating.objects.order_by("ordinal")),
        )
        .order_by("id")
    )
    solutions = (
        Solution.objects.filter(project=project)
        .select_related("problem")
        .prefetch_related(
            Prefetch("steps", Step.objects.order_by("position", "alternative")), Prefetch("annotations", labels)
        )
        .order_by("id")
    )
    if filters.splits:
        solutions = solutions.filter(split__in=filters.splits)
    if filters.policies:
        solutions = solutions.filter(generator__in=filters.policies)
    if filters.visibilities:
        solutions = solutions.filter(provenance__visibility__in=filters.visibilities)
    if not filters.takes_gold:
        solutions = solutions.exclude(is_gold())
    if filters.min_annotations:
        solutions = solutions.filter(Exists(Annotation.objects.filter(solution=OuterRef("pk"))))
    return solutions


def _record(solution: Solution) -> Record:
    problem = solution.problem
    positions: list[list[Completion]] = []
    for step in solution.steps.all():
        while len(positions) <= step.position:
            positions.append([])
        positions[step.position].append(Completion(step.text, kind=cast(StepKind, step.kind)))
    return Record(
        problem=problem.text,
        positions=positions,
        problem_id=problem.pk,
        solution_id=solution.pk,
        source_group=problem.source_group,
        split=solution.split,
        domain=problem.domain,
        reference_answer=problem.reference_answer,
        reference_solution=problem.reference_solution,
        problem_extra=problem.extra,
        external_id=solution.external_id,
        generator=solution.generator,
        final_answer=solution.final_answer,
        final_answer_correct=solution.final_answer_correct,
        outcome_source=cast(OutcomeSource | None, solution.outcome_source or None),
        provenance=solution.origin if solution.provenance else None,
        extra=solution.extra,
    )


def _labels(solution: Solution, filters: SnapshotFilters) -> tuple[list[RecordAnnotation], list[RecordAnnotation]]:
    """The latest revisions that the filters take, and all the revisions that they ask for."""
    places = {step.pk: (step.position, step.alternative) for step in solution.steps.all()}
    said = list(solution.annotations.all())
    last = {(label.source_id, label.annotator_id): label.pk for label in sorted(said, key=lambda a: a.revision)}
    if filters.set_aside == "left_out":
        said = [label for label in said if not label.set_aside]  # type: ignore[attr-defined]
    taken = [(label, told) for label in said if filters.take(told := _annotation(label, places))]
    latest = [told for label, told in taken if last[label.source_id, label.annotator_id] == label.pk]
    return latest, latest if filters.revisions == "latest" else [told for _, told in taken]


def _annotation(label: Annotation, places: dict[int, tuple[int, int]]) -> RecordAnnotation:
    path = {
        place.position: PathPosition(
            place.position,
            chosen=None if place.chosen_id is None else places[place.chosen_id][1],
            own_text=place.own_text,
            dwell_ms=place.dwell_ms,
            native=place.native,
        )
        for place in label.path.all()
    }
    for rating in label.ratings.all():
        position, alternative = places[rating.step_id]
        path.setdefault(position, PathPosition(position)).ratings.append(
            Rating(
                alternative,
                cast(RatingState, rating.state),
                rating=rating.rating,
                flagged=rating.flagged,
                error_type=rating.error_type,
                dimensions=rating.dimensions,
            )
        )
    return RecordAnnotation(
        source_kind=cast(SourceKind, label.source.kind),
        finish_reason=cast(FinishReason, label.finish_reason),
        path=[path[position] for position in sorted(path)],
        source_name=label.source.name,
        source_detail=label.source.detail,
        annotator=str(label.annotator.pseudonym) if label.annotator else None,
        first_error=label.first_error,
        total_ms=label.total_ms,
        submitted_at=label.submitted_at,
        lane=label.lane,
        generation=label.item.generation.number if label.item else None,
        adjudicates=label.adjudicates,
        native=label.native,
    )
