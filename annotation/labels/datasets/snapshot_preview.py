"""Previews a snapshot before it is made: what it would contain, and what each format would leave out."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from annotation.labels.consensus.fits import present_fit
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.plans import Plan, plan_export
from annotation.labels.datasets.record_stream import candidate_solutions, stream_records
from annotation.labels.datasets.tally import Tally
from annotation.models import Project, Snapshot
from prm.vocabulary import NeutralPolicy

SAMPLE = 500  # solutions of a large project that a preview reads: a second of work


@dataclass(frozen=True)
class Preview:
    """The counts of a snapshot (`Tally.counts`) with these filters, and the plans of exports.

    `read` of `candidates` solutions were read. If they are fewer, the counts are estimates: those of the sample, scaled
    up, but for `people` and `problems`, which count those in the sample: several solutions share them.
    """

    candidates: int
    read: int
    counts: dict[str, Any]
    plans: list[Plan]

    @property
    def exact(self) -> bool:
        return self.read == self.candidates


def preview_snapshot(
    project: Project,
    filters: Mapping[str, Any],
    *,
    formats: Sequence[str],
    neutral: NeutralPolicy = "positive",
) -> Preview:
    """Preview the snapshot that `create_snapshot` would make with these filters, and its export in these formats.

    Every solution that may pass is read, or a random sample of a large project, which stays the same while the
    solutions do. The consensus is that of the named or the latest fit; without one, all annotators are equal.

    Raises DomainError (`invalid_filters`), and as `present_fit`.
    """
    parsed = parse_filters(dict(filters))
    ids = list(candidate_solutions(project, parsed).values_list("pk", flat=True))
    sample = ids if len(ids) <= SAMPLE else random.Random(project.pk).sample(ids, SAMPLE)
    fit = present_fit(project, parsed)
    tally = Tally(formats=formats, policies=[neutral])
    for _ in tally.of(stream_records(project=project, filters=parsed, among=sample, fit=fit)):
        pass
    counts = tally.counts()
    if sample:
        counts = _scaled(counts, len(ids) / len(sample)) | {name: counts[name] for name in ("people", "problems")}
    snapshot = Snapshot(project=project, filters=msgspec.to_builtins(parsed), counts=counts)
    plans = [plan_export(snapshot, format, neutral=neutral) for format in formats]
    return Preview(len(ids), len(sample), counts, plans)


def _scaled(counts: Any, scale: float) -> Any:
    """The counts times `scale`, rounded down, so that parts do not add up to more than their whole."""
    if isinstance(counts, dict):
        return {name: _scaled(count, scale) for name, count in counts.items()}
    return int(counts * scale) if type(counts) is int else counts
