"""Compares two snapshots of a project: the labels that were added, changed and lost, and why.

A solution is the same in both if its problem and its first sampled steps are; a label, if its source and annotator are.
Both files are read by an index on the disk, so memory does not grow with them. The reasons come from the files, the
filters and the present state of the project.
"""

import hashlib
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec

from annotation.core.bounds import about
from annotation.core.errors import DomainError
from annotation.labels.datasets.filters import SnapshotFilters
from annotation.labels.datasets.snapshots import open_snapshot
from annotation.models import LabelBatch, Membership, Snapshot, Solution
from annotation.work.gold.designation import is_gold
from prm.formats.identity import content_hash, text_hash
from prm.formats.record import Completion, Record, RecordAnnotation, sampled_texts
from prm.messages import Message

Kind = Literal["added", "changed", "lost"]
Reason = Literal[
    "new_label",
    "imported_later",
    "batch_in_use",
    "revision",
    "dispute",
    "filter",
    "batch_set_aside",
    "gold",
    "person_erased",
    "solution_removed",
    "label_removed",
    "labels",
    "method",
    "fit",
    "edited",
]
EXCERPT = 200  # characters of a problem
ANSWER = ("path", "finish_reason", "first_error", "progress", "submitted_at")
COMPARED = ("problem_extra", "source_group", "split", "domain", "reference_answer", "reference_solution", "external_id",
            "generator", "final_answer", "final_answer_correct", "outcome_source", "provenance", "extra")  # fmt: skip
_decode = msgspec.json.Decoder(Record).decode


class Change(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One difference between two snapshots; `fields` are the names of what changed, `steps` how many steps."""

    of: Annotated[Literal["label", "solution", "consensus"], about("What differs.")]
    kind: Annotated[Kind, about("Whether it is new, different or gone.")]
    reason: Annotated[Reason, about("Why it differs.")]
    problem: Annotated[str, about("The beginning of the problem.")]
    external_id: Annotated[str, about("The solution's id in its file; omitted if it has none.")] = ""
    source_kind: Annotated[str, about("What the label comes from; omitted if no label differs.")] = ""
    source_name: Annotated[str, about("The model or the labeller in a file; omitted for the project's members.")] = ""
    annotator: Annotated[str | None, about("The annotator's pseudonym; omitted for none.")] = None
    fields: Annotated[list[str], about("The names of the changed fields.")] = []
    steps: Annotated[int, about("Number of steps whose consensus differs.")] = 0


class SnapshotDiff(msgspec.Struct, kw_only=True):
    """The numbers of differences from `old` to `new`, by reason; `filters` are the names of those that differ."""

    old: Annotated[str, about("SHA-256 of the older snapshot.")]
    new: Annotated[str, about("SHA-256 of the newer snapshot.")]
    filters: Annotated[list[str], about("The names of the filters that differ.")]
    solutions: Annotated[dict[str, int], about("Number of solutions by difference.")]
    labels: Annotated[dict[str, dict[str, int]], about("Number of labels by difference, then by reason.")]
    same_labels: Annotated[int, about("Number of labels without a difference.")]
    consensus: Annotated[dict[str, int], about("Number of solutions whose consensus differs, by reason.")]


def diff_snapshots(
    old: Snapshot, new: Snapshot, *, on_change: Callable[[Change], None] = lambda change: None
) -> SnapshotDiff:
    """Compare two snapshots of a project; `on_change` gets every difference.

    Raises DomainError (`snapshots_of_two_projects`), and as `open_snapshot`.
    """
    if old.project_id != new.project_id:
        raise DomainError(Message("snapshots_of_two_projects"))
    comparison = _Comparison(old, new)
    solutions, labels = Counter[str](), {kind: Counter[str]() for kind in ("added", "changed", "lost")}
    consensus = Counter[str]()
    for before, after in _paired(old, new):
        solutions["both" if before and after else "added" if after else "lost"] += 1
        for change in comparison.changes(before, after):
            on_change(change)
            if change.of == "label":
                labels[change.kind][change.reason] += 1
            elif change.of == "consensus":
                consensus[change.reason] += 1
            elif change.kind == "changed":
                solutions["changed"] += 1
    return SnapshotDiff(
        old=old.sha256,
        new=new.sha256,
        filters=comparison.filters,
        solutions={name: solutions[name] for name in ("both", "added", "lost", "changed")},
        labels={kind: dict(sorted(reasons.items())) for kind, reasons in labels.items()},
        same_labels=comparison.same,
        consensus=dict(sorted(consensus.items())),
    )


class _Comparison:
    """What the reasons rest on: the filters of both snapshots, and the batches that were decided in between."""

    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self.old, self.project = old, old.project
        self.before = msgspec.convert(old.filters, SnapshotFilters)
        self.after = msgspec.convert(new.filters, SnapshotFilters)
        self.filters = [
            name
            for name in SnapshotFilters.__struct_fields__
            if getattr(self.before, name) != getattr(self.after, name)
        ]
        self.batches = list(LabelBatch.objects.filter(project=self.project).select_related("annotator", "source"))
        self.same = 0

    def changes(self, before: Record | None, after: Record | None) -> Iterator[Change]:
        """The differences of one solution; None where a snapshot does not have it."""
        labels = list(self._label_changes(before, after))
        yield from labels
        if before is None or after is None:
            return
        edited = [name for name in COMPARED if getattr(before, name) != getattr(after, name)]
        if edited:
            yield Change(of="solution", kind="changed", reason="edited", fields=edited, **_named(after))
        if steps := _consensus_changes(before, after):
            method = "consensus" in self.filters
            reason: Reason = "labels" if labels else "method" if method else "fit"
            yield Change(of="consensus", kind="changed", reason=reason, steps=steps, **_named(after))

    def _label_changes(self, before: Record | None, after: Record | None) -> Iterator[Change]:
        left, right = _by_labeller(before), _by_labeller(after)
        for labeller in dict.fromkeys([*left, *right]):
            mine, theirs = left.get(labeller, []), right.get(labeller, [])
            kept = [label for label in mine if label in theirs]
            self.same += len(kept)
            mine = [label for label in mine if label not in kept]
            theirs = [label for label in theirs if label not in kept]
            pairs = min(len(mine), len(theirs))
            for was, now in zip(mine[-pairs:] if pairs else [], theirs[-pairs:] if pairs else [], strict=True):
                assert after is not None
                fields = [name for name in was.__struct_fields__ if getattr(was, name) != getattr(now, name)]
                yield _of_label(after, now, "changed", self._why_changed(fields), fields)
            for label in mine[: len(mine) - pairs]:
                assert before is not None
                yield _of_label(before, label, "lost", self._why_lost(before, label))
            for label in theirs[: len(theirs) - pairs]:
                assert after is not None
                yield _of_label(after, label, "added", self._why_added(label))

    def _why_changed(self, fields: list[str]) -> Reason:
        if "submitted_at" in fields:
            return "revision"
        if "critiques" in self.filters and fields == ["path"]:
            return "filter"
        if fields == ["reference_disputed"]:
            return "dispute"
        return "revision" if set(ANSWER) & set(fields) else "edited"

    def _why_added(self, label: RecordAnnotation) -> Reason:
        if label.submitted_at is not None and label.submitted_at > self.old.created_at:
            return "new_label"
        if not self.before.take(label):
            return "filter"
        if self._in_batch(label, LabelBatch.State.IN_USE, since_old=True):
            return "batch_in_use"
        return "filter" if self.filters else "imported_later"

    def _why_lost(self, record: Record, label: RecordAnnotation) -> Reason:
        if not self.after.take(label):
            return "filter"
        if self.after.set_aside == "left_out" and self._in_batch(label, LabelBatch.State.SET_ASIDE):
            return "batch_set_aside"
        stored = _stored(self.project.pk, record)
        if stored is None:
            return "solution_removed"
        if not self.after.takes_gold and Solution.objects.filter(is_gold(), pk=stored.pk).exists():
            return "gold"
        if label.annotator:
            members = Membership.objects.filter(project=self.project, pseudonym=label.annotator)
            if not members.exists():
                return "person_erased"
        return "filter" if self.filters else "label_removed"

    def _in_batch(self, label: RecordAnnotation, state: str, *, since_old: bool = False) -> bool:
        """Whether the label is in a batch of this state, which was decided after the old snapshot with `since_old`."""
        for batch in self.batches:
            if batch.state != state or label.submitted_at is None:
                continue
            if since_old and (batch.decided_at is None or batch.decided_at <= self.old.created_at):
                continue
            if batch.annotator is not None:
                same = str(batch.annotator.pseudonym) == label.annotator
            else:
                source = batch.source
                same = source is not None and (source.kind, source.name) == (label.source_kind, label.source_name)
            if same and batch.since <= label.submitted_at <= batch.until:
                return True
        return False


def _by_labeller(record: Record | None) -> dict[tuple[str, str, str | None], list[RecordAnnotation]]:
    """The labels of each source and annotator in order, without the weights that depend on other labels."""
    found: dict[tuple[str, str, str | None], list[RecordAnnotation]] = {}
    for label in record.annotations if record else ():
        alone = msgspec.structs.replace(label, reliability=None, reliability_interval=None, shared_steps=None)
        found.setdefault((label.source_kind, label.source_name, label.annotator), []).append(alone)
    return found


def _consensus_changes(before: Record, after: Record) -> int:
    """The number of steps whose consensus is new, gone or different."""
    was = {(step.position, step.alternative): step for step in before.consensus}
    now = {(step.position, step.alternative): step for step in after.consensus}
    return sum(was.get(place) != now.get(place) for place in was.keys() | now.keys())


def _stored(project_id: int, record: Record) -> Solution | None:
    """The solution in the project, as it is now."""
    sampled = msgspec.structs.replace(
        record, positions=[[Completion(at[0].text, at[0].kind)] for at in record.positions if at]
    )
    hashes = [content_hash(record), content_hash(sampled)]
    problem = {"project": project_id, "problem__text_hash": text_hash(record.problem)}
    return Solution.objects.filter(content_hash__in=hashes, **problem).first()


def _of_label(
    record: Record, label: RecordAnnotation, kind: Kind, reason: Reason, fields: Iterable[str] = ()
) -> Change:
    return Change(
        of="label",
        kind=kind,
        reason=reason,
        source_kind=label.source_kind,
        source_name=label.source_name,
        annotator=label.annotator,
        fields=list(fields),
        **_named(record),
    )


def _named(record: Record) -> dict[str, Any]:
    return {"problem": record.problem[:EXCERPT], "external_id": record.external_id}


def _paired(old: Snapshot, new: Snapshot) -> Iterator[tuple[Record | None, Record | None]]:
    """Each solution of both snapshots, with None for the one that does not have it."""
    with open_snapshot(old) as before, open_snapshot(new) as after, _index() as index:
        _add_places(index, "old", before)
        _add_places(index, "new", after)
        for was, now in index.execute("SELECT old, new FROM places ORDER BY coalesce(new, old)"):
            yield _read(before, was), _read(after, now)


@contextmanager
def _index() -> Iterator[sqlite3.Connection]:
    """A table on the disk, with the place of each solution in both files."""
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder) / "index")) as index:
        index.execute("PRAGMA synchronous = OFF")
        index.execute("CREATE TABLE places (key BLOB, old INTEGER, new INTEGER, PRIMARY KEY (key)) WITHOUT ROWID")
        yield index


def _add_places(index: sqlite3.Connection, side: Literal["old", "new"], file: BinaryIO) -> None:
    """Store where each line begins. Equal solutions of one file are matched in their order."""
    place = 0
    for line in file:
        record = _decode(line)
        key = hashlib.sha256(msgspec.json.encode([text_hash(record.problem), sampled_texts(record)])).digest()
        while index.execute(f"SELECT {side} FROM places WHERE key = ?", [key]).fetchone() not in (None, (None,)):
            key = hashlib.sha256(key).digest()
        index.execute(
            f"INSERT INTO places (key, {side}) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET {side} = excluded.{side}",
            [key, place],
        )
        place += len(line)
    index.commit()


def _read(file: BinaryIO, place: int | None) -> Record | None:
    if place is None:
        return None
    file.seek(place)
    return _decode(file.readline())
