"""Reads the labels of a project as the evidence of a consensus fit."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import msgspec
from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Count, Q, QuerySet

from annotation.core.membership.machines import family_of
from annotation.labels.consensus.consensus import evidence_of
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.reading import read_votes
from annotation.labels.datasets.record_stream import (
    candidate_solutions,
    chunks_of,
    read_stored,
    select_labels,
    some_set_aside,
)
from annotation.models import HIDDEN_LANES, Annotation, MachineAnnotator, Project, Solution
from annotation.work.gold.designation import hidden_gold
from prm.consensus import Evidence, Vote
from prm.formats.record import Record, RecordAnnotation


def read_evidence(
    project: Project, source_kinds: Sequence[str], on_solutions: Callable[[int], None] = lambda n: None
) -> Evidence:
    """The latest labels in use of these source kinds (all, if empty), and the first answers to hidden gold.

    The solutions of votes are their ids. `on_solutions` is called with the number of solutions that were just read.
    """
    filters = SnapshotFilters(source_kinds=list(source_kinds))  # type: ignore[arg-type]
    ordinary = candidate_solutions(project, filters)
    # Counted from the labels, and without NOT IN: a pool may have a million solutions without labels.
    labelled = Annotation.objects.filter(project=project).values("solution")
    labelled = labelled.annotate(labels=Count("pk"), decided=BoolOr("adjudicates"))
    shared = ordinary.filter(pk__in=labelled.filter(Q(labels__gt=1) | Q(decided=True)).values("solution"))
    others = ordinary.filter(pk__in=labelled.filter(labels=1, decided=False).values("solution"))

    def latest() -> Iterator[tuple[int, Record, RecordAnnotation | None]]:
        for pk, record, labels in read_stored(project, shared):
            record.annotations, _ = select_labels(labels, filters)
            on_solutions(1)
            yield pk, record, None

    alone = _single_votes(project, others, filters, on_solutions)
    evidence = evidence_of(chain(latest(), _gold(project, filters)), alone)
    return msgspec.structs.replace(evidence, families=families_of(project))


def _single_votes(
    project: Project, solutions: QuerySet[Solution], filters: SnapshotFilters, on_solutions: Callable[[int], None]
) -> Iterator[Vote]:
    """The votes on these solutions with at most one label, without their texts."""
    aside = some_set_aside(project)
    for chunk in chunks_of(solutions):
        on_solutions(len(chunk))
        for label, votes in read_votes(chunk, batches_set_aside=aside):
            if select_labels([label], filters)[0]:
                yield from votes


def _gold(project: Project, filters: SnapshotFilters) -> Iterator[tuple[int, Record, RecordAnnotation]]:
    """The hidden gold solutions with the first answers by people who pass the filters, each with its reference."""
    hidden_filters = msgspec.structs.replace(filters, lanes=[*HIDDEN_LANES])
    gold = hidden_gold(project)
    references = set(gold.values_list("annotation", flat=True))
    for pk, record, labels in read_stored(
        project, candidate_solutions(project, hidden_filters).filter(pk__in=gold.values("solution"))
    ):
        record.annotations, _ = select_labels([label for label in labels if label.revision == 1], hidden_filters)
        [truth] = (label.annotation for label in labels if label.id in references)
        yield pk, record, truth


def families_of(project: Project) -> dict[str, str]:
    """The family of each model judge, by the name that it has in records.

    A machine annotator states its family. That of a judge that a file names follows from the name.
    """
    judges = list(project.label_sources.filter(kind="model_judge").exclude(name=""))
    families = {f"{judge.kind} {judge.name}": family_of(judge.name) for judge in judges}
    for machine in MachineAnnotator.objects.filter(membership__project=project).select_related("membership"):
        family = machine.family.lower()
        families |= {f"{machine.membership.pseudonym} {version.name}": family for version in judges}
    return families
