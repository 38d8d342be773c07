"""Chooses solutions that nobody has read, for training on their graded final answers or Monte Carlo estimates."""

from collections.abc import Iterator

import msgspec
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.labels.datasets.filters import SnapshotFilters, may_pass
from annotation.labels.datasets.record_stream import candidate_solutions, read_stored, select_labels
from annotation.models import Annotation, GoldAnswer, Lease, Problem, Project, Solution
from prm.formats.record import Record
from prm.vocabulary import MACHINES

ESTIMATES = SnapshotFilters(source_kinds=["monte_carlo"])


def graded_records(project: Project, filters: SnapshotFilters) -> Iterator[Record]:
    """The chosen solutions as records without labels, in the order of `stream_records`.

    At most `filters.graded` have a right and as many a wrong final answer. One of each problem is chosen first, then a
    second of each, in the order of their hashes, so that the choice depends on the content alone. With
    `filters.estimates` as many unread solutions with Monte Carlo estimates are chosen likewise, and as many labelled
    ones; the records then have these estimates as their annotations, and no others.
    """
    unread = _unread(project, filters)
    chosen: list[int] = []
    for right in (True, False):
        chosen += _in_turn(unread.filter(final_answer_correct=right), filters.graded)
    if filters.estimates:
        estimated = Exists(Annotation.objects.filter(may_pass(ESTIMATES), solution=OuterRef("pk")))
        chosen += _in_turn(unread.filter(estimated), filters.estimates)
        read = _pool(project, filters, min_annotations=max(1, filters.min_annotations))
        chosen += _in_turn(read.filter(estimated), filters.estimates)
    solutions = Solution.objects.filter(pk__in=chosen).order_by("problem__text_hash", "content_hash")
    for _, record, labels in read_stored(project, solutions):
        if filters.estimates:
            record.annotations, _ = select_labels(labels, ESTIMATES)
        yield record


def _in_turn(solutions: QuerySet[Solution], most: int) -> list[int]:
    """The ids of the first solution of each problem, then of a second of each, and so on, up to so many."""
    turn = Window(RowNumber(), partition_by=[F("problem")], order_by=[F("content_hash").asc()])
    ranked = solutions.annotate(turn=turn).order_by("turn", "content_hash", "problem__text_hash")
    return list(ranked.values_list("pk", flat=True)[:most])


def _unread(project: Project, filters: SnapshotFilters) -> QuerySet[Solution]:
    """The pool's solutions that no person and no training source labelled, and that nobody has in hand."""
    labelled = Annotation.objects.filter(
        ~Q(source__kind__in=MACHINES) | Q(source__kind__in=filters.source_kinds or MACHINES), solution=OuterRef("pk")
    )
    leased = Lease.objects.filter(solution=OuterRef("pk"), state=Lease.State.ACTIVE)
    return _pool(project, filters, min_annotations=0).filter(~Exists(labelled), ~Exists(leased))


def _pool(project: Project, filters: SnapshotFilters, *, min_annotations: int) -> QuerySet[Solution]:
    """The pool's solutions that pass the filters, without the source groups with gold or in another split."""
    if filters.splits and "pool" not in filters.splits:
        return Solution.objects.none()
    pool = msgspec.structs.replace(filters, splits=["pool"], min_annotations=min_annotations, gold="left_out", lanes=[])
    gold = GoldAnswer.objects.filter(solution__problem=OuterRef("pk"), active=True)
    # Not as NOT IN: with more groups than fit its memory, the database would search the whole list for each solution.
    measuring = Problem.objects.filter(
        ~Q(split="pool") | Q(Exists(gold)), project=project, source_group=OuterRef("problem__source_group")
    )
    return candidate_solutions(project, pool).filter(~Exists(measuring))
