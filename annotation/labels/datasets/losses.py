"""Counts what the file of each export format would have and leave out, by a dry run of its writer."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from prm.formats.record import Consensus, PathPosition, Record, RecordAnnotation
from prm.formats.writing import Exporter, Fits, Lines, Loss, always, never
from prm.vocabulary import NEUTRAL_POLICIES, NeutralPolicy

NO_ROW = "not_expressible"  # the reason of a writer that states none
MOST_REMEMBERED = 4096  # structures with their outcomes


class _Outcome(NamedTuple):
    rows: int
    reasons: list[str]


class _Remembered:
    """The outcomes of records of one structure, by writer and policy, and the number of such records by split."""

    __slots__ = ("kinds", "outcomes", "times")

    def __init__(self, record: Record, outcomes: dict[Lines, dict[NeutralPolicy, _Outcome]]) -> None:
        self.kinds = [label.source_kind for label in record.annotations]
        self.outcomes, self.times = outcomes, Counter[str]()


class ExportCounts:
    """The solutions, rows and kinds of labels in a file, and its losses by reason, by exporter, policy and split.

    Exporters that write the same rows share a dry run, and so do records of the same structure.
    """

    def __init__(self, exporters: Iterable[Exporter], *, policies: Sequence[NeutralPolicy] = NEUTRAL_POLICIES) -> None:
        self._wanted = policies
        self._sharing: dict[Lines, list[Exporter]] = {}
        self._counts: dict[str, dict[str, dict[str, dict[str, Counter[str]]]]] = {}
        self._versions: dict[str, str] = {}
        self._conditions: dict[Fits, list[Lines]] = {}
        self._remembered: dict[Hashable, _Remembered] = {}
        for exporter in exporters:
            if exporter.lines not in self._sharing:
                self._sharing[exporter.lines] = []
                self._conditions.setdefault(exporter.by_structure, []).append(exporter.lines)
            self._sharing[exporter.lines].append(exporter)
            self._counts[exporter.name] = {policy: {} for policy in self._policies(exporter)}
            self._versions[exporter.name] = exporter.version
        self._always = self._conditions.pop(always, [])
        self._never = self._conditions.pop(never, [])

    def add(self, record: Record) -> None:
        met = [condition(record) for condition in self._conditions]
        key = (*met, *_structure_of(record))
        remembered = self._remembered.get(key)
        if remembered is None:
            if len(self._remembered) == MOST_REMEMBERED:
                self._count_remembered()
            lines = [*self._always, *self._with(met, True)]
            remembered = self._remembered[key] = _Remembered(record, self._run(lines, record))
        remembered.times[record.split] += 1
        if self._never or not all(met):
            alone = _Remembered(record, self._run([*self._never, *self._with(met, False)], record))
            alone.times[record.split] = 1
            self._count(alone)

    def counts(self) -> dict[str, Any]:
        """The counts as JSON, with the version of the writer that they hold for."""
        self._count_remembered()
        return {name: {"version": self._versions[name], **counts} for name, counts in self._counts.items()}

    def _with(self, met: Sequence[bool], wanted: bool) -> list[Lines]:
        """The writers whose condition was met, or was not."""
        chosen = zip(met, self._conditions.values(), strict=True)
        return [lines for is_met, several in chosen if is_met is wanted for lines in several]

    def _run(self, lines: Iterable[Lines], record: Record) -> dict[Lines, dict[NeutralPolicy, _Outcome]]:
        """The outcomes of the writers under each of their policies."""
        neutral = _has_neutral(record)
        outcomes = {}
        for one in lines:
            policies = self._policies(self._sharing[one][0])
            if neutral:
                outcomes[one] = {policy: _run(one, record, policy) for policy in policies}
            else:
                outcomes[one] = dict.fromkeys(policies, _run(one, record, policies[0]))
        return outcomes

    def _count_remembered(self) -> None:
        for remembered in self._remembered.values():
            self._count(remembered)
        self._remembered.clear()

    def _count(self, these: _Remembered) -> None:
        for lines, by_policy in these.outcomes.items():
            for exporter in self._sharing[lines]:
                for policy, outcome in by_policy.items():
                    by_split = self._counts[exporter.name][policy]
                    for split, times in these.times.items():
                        if split not in by_split:
                            names = ("held", "kinds", "left_out", "ends_early")
                            by_split[split] = {name: Counter() for name in names}
                        _add(by_split[split], outcome, these.kinds, times)

    def _policies(self, exporter: Exporter) -> Sequence[NeutralPolicy]:
        """The policies on neutral steps that give different files."""
        return self._wanted if exporter.two_classes else NEUTRAL_POLICIES[:1]


def _add(counts: dict[str, Counter[str]], outcome: _Outcome, kinds: Iterable[str], times: int) -> None:
    if outcome.rows:
        counts["held"].update(solutions=times, rows=outcome.rows * times)
        for kind in kinds:
            counts["kinds"][kind] += times
        for reason in outcome.reasons:
            counts["ends_early"][reason] += times
    else:
        counts["left_out"][(*outcome.reasons, NO_ROW)[0]] += times


def _run(lines: Lines, record: Record, policy: NeutralPolicy) -> _Outcome:
    written = list(lines(record, policy))
    reasons = [row.reason for row in written if isinstance(row, Loss)]
    return _Outcome(len(written) - len(reasons), reasons)


def _has_neutral(record: Record) -> bool:
    """Whether a step of the record may be neutral."""
    return any(one.neutral >= max(one.good, one.bad) for one in record.consensus) or any(
        rating.rating == 0 for label in record.annotations for place in label.path for rating in place.ratings
    )


def _structure_of(record: Record) -> tuple[Hashable, ...]:
    """What `Exporter.by_structure` calls the structure of a record, with the kinds of its labels."""
    return (
        tuple(map(len, record.positions)),
        tuple([step.kind for at in record.positions for step in at]),
        tuple(map(_structure_of_label, record.annotations)),
        # One label gives every step the rating that it has itself, unless a fit doubts it.
        (len(record.annotations) == 1 and not record.consensus_fit) or tuple(map(_agreed, record.consensus)),
    )


def _structure_of_label(label: RecordAnnotation) -> Hashable:
    return (
        label.source_kind,
        label.finish_reason,
        label.first_error,
        label.adjudicates,
        label.native.get("format") if "line" in label.native else None,
        *_structure_of_path(label.path),
    )


def _structure_of_path(path: Iterable[PathPosition]) -> list[Any]:
    """The choices and ratings in one list, which is faster to make and to hash than nested ones."""
    structure: list[Any] = []
    for place in path:
        structure += (place.position, place.chosen, place.own_text, len(place.ratings))
        for rating in place.ratings:
            structure += (rating.alternative, rating.state, rating.rating)
    return structure


def _agreed(one: Consensus) -> Hashable:
    """A step with its rating as `agreed_rating` chooses it: the lower one wins a tie."""
    rating = -1 if one.bad >= max(one.neutral, one.good) else 0 if one.neutral >= one.good else 1
    return one.position, one.alternative, rating
