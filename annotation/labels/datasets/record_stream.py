"""Streams a project's solutions and labels as records, with bounded memory."""

from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from itertools import chain, islice

import msgspec
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.labels.consensus.consensus import consensus_of, evidence_of, with_reliability
from annotation.labels.datasets.filters import SnapshotFilters, may_pass
from annotation.labels.datasets.reading import NO_TEXTS, Label, StoredSolution, Texts, read_solutions, read_votes
from annotation.labels.quality.contrast import SourceVerdict, passes_rule
from annotation.models import HIDDEN_LANES, Annotation, LabelBatch, Project, Solution, Step
from annotation.work.gold.designation import hidden_gold, is_gold
from prm.consensus import CONSENSUS, Evidence, Vote
from prm.formats.record import Record, RecordAnnotation

AT_ONCE = 250  # solutions in memory


def stream_records(
    *, project: Project, filters: SnapshotFilters, among: Collection[int] | None = None
) -> Generator[Record]:
    """The records that pass the filters, each with the consensus of its labels.

    They are in the order of the hashes of their problem and their steps, so that two installations with the same labels
    give the same records. `among` limits them to solutions with these ids.

    All are read from one state of the database. People have pseudonyms; their comments, reasons and critiques are left
    out unless the filters include them. Reliability, if the consensus uses it, is fitted to these labels only.
    """
    return (record for _, record in stream_solutions(project=project, filters=filters, among=among))


def stream_solutions(
    *, project: Project, filters: SnapshotFilters, among: Collection[int] | None = None
) -> Iterator[tuple[int, Record]]:
    """As `stream_records`, with the id of each solution."""
    with _one_moment():
        model = CONSENSUS.get(filters.consensus)
        fit = model.estimate(_evidence(project, filters)) if model.learns else None
        texts = Texts(critiques=filters.critiques == "included", comments=filters.comments == "included")
        solutions = candidate_solutions(project, filters)
        if among is not None:
            solutions = solutions.filter(pk__in=among)
        for pk, record, labels in _read(project, solutions, texts=texts):
            latest, chosen = _select(labels, filters)
            if len(chosen) >= filters.min_annotations and _agreed(record, labels, filters):
                record.annotations = [with_reliability(label, fit) for label in chosen] if fit else chosen
                record.consensus = consensus_of(latest, fit, record.domain)
                record.consensus_method = filters.consensus if record.consensus else ""
                if filters.are_sure(record.consensus):
                    yield pk, record


def _evidence(project: Project, filters: SnapshotFilters) -> Evidence:
    """All labels that pass the filters, and the first answers to hidden gold."""
    several = Solution.objects.annotate(label_count=Count("annotations")).filter(label_count__gt=1).values("pk")
    settled = Annotation.objects.filter(project=project, adjudicates=True).values("solution")
    shared = candidate_solutions(project, filters).filter(Q(pk__in=several) | Q(pk__in=settled)).exclude(is_gold())

    def latest() -> Iterator[tuple[int, Record, RecordAnnotation | None]]:
        for pk, record, labels in _read(project, shared):
            record.annotations, _ = _select(labels, filters)
            yield pk, record, None

    others = candidate_solutions(project, filters).exclude(pk__in=shared.values("pk")).exclude(is_gold())
    return evidence_of(chain(latest(), _gold(project, filters)), _single_votes(project, others, filters))


def _single_votes(project: Project, solutions: QuerySet[Solution], filters: SnapshotFilters) -> Iterator[Vote]:
    """The votes on these solutions with at most one label, without their texts."""
    aside = _some_set_aside(project)
    for chunk in _chunks(solutions):
        for label, votes in read_votes(chunk, batches_set_aside=aside):
            if _select([label], filters)[0]:
                yield from votes


def _gold(project: Project, filters: SnapshotFilters) -> Iterator[tuple[int, Record, RecordAnnotation]]:
    """The hidden gold solutions with the first answers by people who pass the filters, each with its reference."""
    hidden_filters = msgspec.structs.replace(filters, splits=[], generations=[], lanes=[*HIDDEN_LANES])
    gold = hidden_gold(project)
    references = set(gold.values_list("annotation", flat=True))
    for pk, record, labels in _read(
        project, candidate_solutions(project, hidden_filters).filter(pk__in=gold.values("solution"))
    ):
        record.annotations, _ = _select([label for label in labels if label.revision == 1], hidden_filters)
        [truth] = (label.annotation for label in labels if label.id in references)
        yield pk, record, truth


@contextmanager
def _one_moment() -> Iterator[None]:
    """A transaction that reads one state of the database. A nested one has the isolation level of the outer one."""
    outermost = not connection.in_atomic_block
    with transaction.atomic():
        if outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def candidate_solutions(project: Project, filters: SnapshotFilters) -> QuerySet[Solution]:
    """The solutions that may pass the filters, as far as the database can decide, in the order of `stream_records`."""
    solutions = Solution.objects.filter(project=project).order_by("problem__text_hash", "content_hash")
    if filters.splits:
        solutions = solutions.filter(split__in=filters.splits)
    if filters.domains:
        solutions = solutions.filter(problem__domain__in=filters.domains)
    if filters.text:
        steps = Step.objects.filter(solution=OuterRef("pk"), text__icontains=filters.text)
        solutions = solutions.filter(Q(problem__text__icontains=filters.text) | Q(Exists(steps)))
    if filters.policies:
        solutions = solutions.filter(generator__in=filters.policies)
    if filters.visibilities:
        solutions = solutions.filter(provenance__visibility__in=filters.visibilities)
    if not filters.takes_gold:
        solutions = solutions.exclude(is_gold())
    if filters.min_annotations:
        labels = Annotation.objects.filter(may_pass(filters), solution=OuterRef("pk"))
        solutions = solutions.filter(Exists(labels))
    return solutions


def _read(project: Project, solutions: QuerySet[Solution], *, texts: Texts = NO_TEXTS) -> Iterator[StoredSolution]:
    """The solutions with their labels, read in chunks."""
    aside = _some_set_aside(project)
    for chunk in _chunks(solutions):
        yield from read_solutions(chunk, batches_set_aside=aside, texts=texts)


def _some_set_aside(project: Project) -> bool:
    return project.label_batches.filter(state=LabelBatch.State.SET_ASIDE).exists()


def _chunks(solutions: QuerySet[Solution]) -> Iterator[list[int]]:
    ids = solutions.values_list("pk", flat=True).iterator(chunk_size=10 * AT_ONCE)
    while chunk := list(islice(ids, AT_ONCE)):
        yield chunk


def _agreed(record: Record, labels: list[Label], filters: SnapshotFilters) -> bool:
    """Whether the solution passes the filters' agreement rule, judged by the latest labels of each source."""
    rule = filters.agreement
    if rule is None or (rule.splits and record.split not in rule.splits):
        return True
    considered = [label for label in labels if filters.takes_gold or label.annotation.lane not in HIDDEN_LANES]
    last = {label.labeller: label for label in sorted(considered, key=lambda label: label.revision)}
    counting = [label.annotation for label in last.values() if filters.set_aside == "included" or not label.set_aside]
    return passes_rule(rule, (SourceVerdict(a.source_kind, a.source_name, a.first_error) for a in counting))


def _select(labels: list[Label], filters: SnapshotFilters) -> tuple[list[RecordAnnotation], list[RecordAnnotation]]:
    """The latest revisions that pass the filters, and all revisions that the filters request."""
    last = {label.labeller: label.id for label in sorted(labels, key=lambda label: label.revision)}
    if filters.set_aside == "left_out":
        labels = [label for label in labels if not label.set_aside]
    matching = [label for label in labels if filters.take(label.annotation)]
    latest = [label.annotation for label in matching if last[label.labeller] == label.id]
    return latest, latest if filters.revisions == "latest" else [label.annotation for label in matching]
