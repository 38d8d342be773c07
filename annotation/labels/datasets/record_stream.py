"""Streams a project's solutions and labels as records, with bounded memory."""

from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.labels.agreement.contrast import SourceVerdict, passes_rule
from annotation.labels.consensus.consensus import consensus_of_each, with_reliability
from annotation.labels.datasets.filters import SnapshotFilters, may_pass
from annotation.labels.datasets.reading import NO_TEXTS, Label, StoredSolution, Texts, read_solutions
from annotation.models import HIDDEN_LANES, Annotation, ConsensusFit, LabelBatch, Project, Solution, Step
from annotation.work.gold.designation import is_gold
from prm.formats.record import Record, RecordAnnotation

VOTE_SHARES = "shares"  # the method without a fit
AT_ONCE = 250  # solutions in memory


def stream_records(
    *,
    project: Project,
    filters: SnapshotFilters,
    fit: ConsensusFit | None = None,
    among: Collection[int] | None = None,
) -> Generator[Record]:
    """The records that pass the filters, each with the consensus of its labels under the fit; vote shares without one.

    They are in the order of the hashes of their problem and their steps, so that two installations with the same labels
    give the same records. `among` limits them to solutions with these ids.

    All are read from one state of the database. People have pseudonyms; their comments, reasons and critiques are left
    out unless the filters include them.
    """
    return (record for _, record in stream_solutions(project=project, filters=filters, fit=fit, among=among))


def stream_solutions(
    *,
    project: Project,
    filters: SnapshotFilters,
    fit: ConsensusFit | None,
    among: Collection[int] | None,
) -> Iterator[tuple[int, Record]]:
    """As `stream_records`, with the id of each solution."""
    with one_moment():
        learned = fit.learned if fit else None
        texts = Texts(critiques=filters.critiques == "included", comments=filters.comments == "included")
        solutions = candidate_solutions(project, filters)
        if among is not None:
            solutions = solutions.filter(pk__in=among)
        passing = _passing(read_stored(project, solutions, texts=texts), filters)
        while some := list(islice(passing, AT_ONCE)):
            agreed = consensus_of_each([(latest, record.domain) for _, record, latest in some], learned)
            for (pk, record, _), consensus in zip(some, agreed, strict=True):
                if learned:
                    record.annotations = [with_reliability(label, learned) for label in record.annotations]
                record.consensus = consensus
                if consensus:
                    record.consensus_method = fit.method if fit else VOTE_SHARES
                    record.consensus_fit = fit.sha256 if fit else ""
                if filters.are_sure(consensus):
                    yield pk, record


@contextmanager
def one_moment() -> Iterator[None]:
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


def read_stored(
    project: Project, solutions: QuerySet[Solution], *, texts: Texts = NO_TEXTS
) -> Iterator[StoredSolution]:
    """The solutions with their labels, read in chunks."""
    aside = some_set_aside(project)
    for chunk in chunks_of(solutions):
        yield from read_solutions(chunk, batches_set_aside=aside, texts=texts)


def some_set_aside(project: Project) -> bool:
    return project.label_batches.filter(state=LabelBatch.State.SET_ASIDE).exists()


def chunks_of(solutions: QuerySet[Solution]) -> Iterator[list[int]]:
    ids = solutions.values_list("pk", flat=True).iterator(chunk_size=10 * AT_ONCE)
    while chunk := list(islice(ids, AT_ONCE)):
        yield chunk


def _passing(
    stored: Iterable[StoredSolution], filters: SnapshotFilters
) -> Iterator[tuple[int, Record, list[RecordAnnotation]]]:
    """The solutions that pass the filters, with their latest labels. Each record gets the labels that pass."""
    for pk, record, labels in stored:
        latest, record.annotations = select_labels(labels, filters)
        if len(record.annotations) >= filters.min_annotations and _agreed(record, labels, filters):
            yield pk, record, latest


def _agreed(record: Record, labels: list[Label], filters: SnapshotFilters) -> bool:
    """Whether the solution passes the filters' agreement rule, judged by the latest labels of each source."""
    rule = filters.agreement
    if rule is None or (rule.splits and record.split not in rule.splits):
        return True
    considered = [label for label in labels if filters.takes_gold or label.annotation.lane not in HIDDEN_LANES]
    last = {label.labeller: label for label in sorted(considered, key=lambda label: label.revision)}
    counting = [label.annotation for label in last.values() if filters.set_aside == "included" or not label.set_aside]
    return passes_rule(rule, (SourceVerdict(a.source_kind, a.source_name, a.first_error) for a in counting))


def select_labels(
    labels: list[Label], filters: SnapshotFilters
) -> tuple[list[RecordAnnotation], list[RecordAnnotation]]:
    """The latest revisions that pass the filters, and all revisions that the filters request."""
    last = {label.labeller: label.id for label in sorted(labels, key=attrgetter("revision"))}
    if filters.set_aside == "left_out":
        labels = [label for label in labels if not label.set_aside]
    matching = [label for label in labels if filters.take(label.annotation)]
    latest = [label.annotation for label in matching if last[label.labeller] == label.id]
    return latest, latest if filters.revisions == "latest" else [label.annotation for label in matching]
