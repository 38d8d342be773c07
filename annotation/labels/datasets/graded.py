"""Chooses graded solutions that nobody has read. Training learns from their final answers, beside the labels."""

from collections.abc import Iterator

import msgspec
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.record_stream import candidate_solutions, read_stored
from annotation.models import Annotation, GoldAnswer, Lease, Problem, Project, Solution
from prm.formats.record import Record
from prm.vocabulary import MACHINES


def graded_records(project: Project, filters: SnapshotFilters) -> Iterator[Record]:
    """The chosen solutions as records without labels, in the order of `stream_records`.

    At most `filters.graded` have a right and as many a wrong final answer. One of each problem is chosen first, then a
    second of each, in the order of their hashes, so that the choice depends on the content alone.
    """
    unread = _unread(project, filters)
    turn = Window(RowNumber(), partition_by=[F("problem")], order_by=[F("content_hash").asc()])
    chosen: list[int] = []
    for right in (True, False):
        side = unread.filter(final_answer_correct=right).annotate(turn=turn)
        ranked = side.order_by("turn", "content_hash", "problem__text_hash")
        chosen += ranked.values_list("pk", flat=True)[: filters.graded]
    solutions = Solution.objects.filter(pk__in=chosen).order_by("problem__text_hash", "content_hash")
    return (record for _, record, _ in read_stored(project, solutions))


def _unread(project: Project, filters: SnapshotFilters) -> QuerySet[Solution]:
    """The pool's solutions that no person and no training source labelled, and that nobody has in hand.

    Source groups with gold, and those that reach beyond the pool, are left out whole.
    """
    pool = msgspec.structs.replace(filters, splits=["pool"], min_annotations=0, gold="left_out", lanes=[])
    labelled = Annotation.objects.filter(
        ~Q(source__kind__in=MACHINES) | Q(source__kind__in=filters.source_kinds or MACHINES), solution=OuterRef("pk")
    )
    leased = Lease.objects.filter(solution=OuterRef("pk"), state=Lease.State.ACTIVE)
    gold = GoldAnswer.objects.filter(solution__problem=OuterRef("pk"), active=True)
    # Not as NOT IN: with more groups than fit its memory, the database would search the whole list for each solution.
    measuring = Problem.objects.filter(
        ~Q(split="pool") | Q(Exists(gold)), project=project, source_group=OuterRef("problem__source_group")
    )
    if filters.splits and "pool" not in filters.splits:
        return Solution.objects.none()
    return candidate_solutions(project, pool).filter(~Exists(labelled), ~Exists(leased), ~Exists(measuring))
