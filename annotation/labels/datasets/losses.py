"""Counts what the file of each export format would have and leave out, by a dry run of its writer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from prm.formats.record import Record
from prm.formats.writing import Exporter, Lines, Loss
from prm.vocabulary import NEUTRAL_POLICIES, NeutralPolicy

NO_ROW = "not_expressible"  # the reason of a writer that states none


class _Outcome(NamedTuple):
    rows: int
    reasons: list[str]


class ExportCounts:
    """The solutions, rows and kinds of labels in a file, and its losses by reason, by exporter, policy and split.

    Exporters that write the same rows share a dry run.
    """

    def __init__(self, exporters: Iterable[Exporter], *, policies: Sequence[NeutralPolicy] = NEUTRAL_POLICIES) -> None:
        self._wanted = policies
        self._sharing: dict[Lines, list[Exporter]] = {}
        self._counts: dict[str, dict[str, dict[str, dict[str, Counter[str]]]]] = {}
        self._versions: dict[str, str] = {}
        for exporter in exporters:
            self._sharing.setdefault(exporter.lines, []).append(exporter)
            self._counts[exporter.name] = {policy: {} for policy in self._policies(exporter)}
            self._versions[exporter.name] = exporter.version

    def add(self, record: Record) -> None:
        neutral = _has_neutral(record)
        for lines, exporters in self._sharing.items():
            policies = self._policies(exporters[0])
            outcome = None
            for policy in policies:
                if outcome is None or neutral:
                    outcome = _run(lines, record, policy)
                for exporter in exporters:
                    self._add(self._counts[exporter.name][policy], record, outcome)

    def counts(self) -> dict[str, Any]:
        """The counts as JSON, with the version of the writer that they hold for."""
        return {name: {"version": self._versions[name], **counts} for name, counts in self._counts.items()}

    def _add(self, by_split: dict[str, dict[str, Counter[str]]], record: Record, outcome: _Outcome) -> None:
        if record.split not in by_split:
            by_split[record.split] = {name: Counter() for name in ("held", "kinds", "left_out", "ends_early")}
        counts = by_split[record.split]
        if outcome.rows:
            counts["held"].update(solutions=1, rows=outcome.rows)
            counts["kinds"].update(label.source_kind for label in record.annotations)
            counts["ends_early"].update(outcome.reasons)
        else:
            counts["left_out"][(*outcome.reasons, NO_ROW)[0]] += 1

    def _policies(self, exporter: Exporter) -> Sequence[NeutralPolicy]:
        """The policies on neutral steps that give different files."""
        return self._wanted if exporter.two_classes else NEUTRAL_POLICIES[:1]


def _run(lines: Lines, record: Record, policy: NeutralPolicy) -> _Outcome:
    written = list(lines(record, policy))
    reasons = [row.reason for row in written if isinstance(row, Loss)]
    return _Outcome(len(written) - len(reasons), reasons)


def _has_neutral(record: Record) -> bool:
    """Whether a step of the record may be neutral."""
    return any(one.neutral >= max(one.good, one.bad) for one in record.consensus) or any(
        rating.rating == 0 for label in record.annotations for place in label.path for rating in place.ratings
    )
