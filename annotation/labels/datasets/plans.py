"""Plans an export: what the file will have, what it leaves out and why."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from django.core.cache import caches

from annotation.core.errors import DomainError
from annotation.labels.datasets.losses import NO_ROW, ExportCounts
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.models import Snapshot
from prm.errors import UnknownNameError
from prm.exporters import EXPORTERS
from prm.formats.writing import Exporter
from prm.messages import Message, joined
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS

MixedKinds = Literal["refuse", "allow"]
MIXED_KINDS: tuple[MixedKinds, ...] = ("refuse", "allow")
DEFAULT_SPLITS = ("pool",)


@dataclass(frozen=True)
class Plan:
    """An export before it is made.

    `solutions` counts those in the file and `rows` its lines, `left_out` the other solutions by reason (a split, or why
    there is no line), `ends_early` lines that end before the agreed path, `not_held` details that the format cannot
    express, `mixed_kinds` labels by kind if the file does not distinguish several. `refusal` is raised if the export is
    made anyway.
    """

    format: str
    splits: tuple[str, ...]
    solutions: int
    rows: int
    left_out: dict[str, int]
    ends_early: dict[str, int]
    not_held: dict[str, int]
    mixed_kinds: dict[str, int]
    refusal: DomainError | None

    def sentences(self) -> list[Message]:
        """A phrase for each loss."""
        return [*_phrases(_LEFT_OUT, self.left_out), *_phrases(_ENDS, self.ends_early), *_phrases(_HELD, self.not_held)]


def plan_export(
    snapshot: Snapshot,
    format: str,
    *,
    neutral: str = "positive",
    splits: Collection[str] | None = None,
    mixed_kinds: str = "refuse",
) -> Plan:
    """Plan an export with the options of `export_snapshot`.

    Raises DomainError (`unknown_format`, `unknown_policy`, `unknown_split`, `unknown_mixed_kinds`).
    """
    exporter = _check(format, neutral, splits or (), mixed_kinds)
    held = _splits(snapshot, exporter, splits)
    try:
        counts = _count(snapshot, exporter)[neutral if exporter.two_classes else NEUTRAL_POLICIES[0]]
    except DomainError as error:  # the file is missing or changed
        return Plan(format, held, 0, 0, {}, {}, {}, {}, error)
    by_split = snapshot.counts["splits"]
    left_out = Counter[str]({split: by_split[split] for split in SPLITS if split in by_split and split not in held})
    ends_early, total, kinds = Counter[str](), Counter[str](), Counter[str]()
    for split in (split for split in held if split in counts):
        total.update(counts[split]["held"])
        left_out.update(counts[split]["left_out"])
        ends_early.update(counts[split]["ends_early"])
        kinds.update(counts[split]["kinds"])
    not_held = {kind: n for kind in exporter.not_held if (n := _count_not_held(snapshot.counts, kind))}
    mixed = dict(sorted(kinds.items())) if exporter.nameless and exporter.has_labels and len(kinds) > 1 else {}
    refusal = _refusal(exporter, mixed if mixed_kinds == "refuse" else {}, total["rows"], left_out)
    return Plan(
        format, held, total["solutions"], total["rows"], dict(left_out), dict(ends_early), not_held, mixed, refusal
    )


def _count(snapshot: Snapshot, exporter: Exporter) -> Mapping[str, Any]:
    """The counts of an exporter's dry run: stored with the snapshot, or made now for a newer writer."""
    stored: dict[str, Any] | None = snapshot.counts.get("exports", {}).get(exporter.name)
    if stored and stored["version"] == exporter.version:
        return stored
    key = f"export-counts:{snapshot.sha256}:{exporter.name}:{exporter.version}"
    counts: Mapping[str, Any] | None = caches["figures"].get(key)
    if counts is None:
        run = ExportCounts([exporter])
        for record in read_snapshot(snapshot):
            run.add(record)
        counts = run.counts()[exporter.name]
        caches["figures"].set(key, counts, timeout=None)
    return counts


def _check(format: str, neutral: str, splits: Collection[str], mixed_kinds: str) -> Exporter:
    try:
        exporter = EXPORTERS.get(format)
    except UnknownNameError as error:
        raise DomainError(error.args[0], {"field": "format"}, code="unknown_format") from None
    if neutral not in NEUTRAL_POLICIES:
        raise DomainError(
            Message("unknown_neutral_policy", known=", ".join(NEUTRAL_POLICIES), neutral=neutral), code="unknown_policy"
        )
    for split in splits:
        if split not in SPLITS:
            raise DomainError(Message("unknown_split", split=split, known=", ".join(SPLITS)))
    if mixed_kinds not in MIXED_KINDS:
        raise DomainError(Message("unknown_mixed_kinds", given=mixed_kinds, known=", ".join(MIXED_KINDS)))
    return exporter


def _splits(snapshot: Snapshot, exporter: Exporter, requested: Collection[str] | None) -> tuple[str, ...]:
    """The splits requested for the export or the snapshot; else all, or the pool if the format has no splits."""
    wanted = requested or snapshot.filters.get("splits") or (DEFAULT_SPLITS if exporter.nameless else SPLITS)
    return tuple(split for split in SPLITS if split in wanted)


def _refusal(
    exporter: Exporter, mixed: Mapping[str, int], rows: int, left_out: Mapping[str, int]
) -> DomainError | None:
    if mixed:
        return DomainError(
            Message("mixed_kinds", kinds=", ".join(f"{kind}: {n}" for kind, n in mixed.items()), format=exporter.title),
            {"source_kinds": dict(mixed)},
        )
    if not rows:
        reasons = joined(list(_phrases(_LEFT_OUT, left_out)), "comma_list")
        message = Message("export_empty_after_exclusions", reasons=reasons) if reasons else Message("export_empty")
        return DomainError(message, {"left_out": dict(left_out)}, code="empty_export")
    return None


def _count_not_held(counts: Mapping[str, Any], kind: str) -> int:
    if kind == "hints":
        return sum(counts.get("hints", {}).get(arm, 0) for arm in ("shown", "blind"))
    if kind == "draws":
        return sum(draw["solutions"] for draw in counts.get("draws", []))
    if kind == "guidelines":
        return sum(labels for version, labels in counts.get("guidelines", {}).items() if version)
    count = counts.get("annotations" if kind == "labels" else kind, 0)
    return sum(count.values()) if isinstance(count, dict) else int(count)


def _phrases(codes: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[Message]:
    """A phrase for each count, the known reasons first; a reason of an extension stays in its words."""
    known = (Message(code, n=counts[kind]) for kind, code in codes.items() if kind in counts)
    others = (
        Message("solutions_left_out_because", n=n, reason=kind) for kind, n in counts.items() if kind not in codes
    )
    return chain(known, others)


_LEFT_OUT = {
    "pool": "pool_solutions_left_out",
    "calibration": "calibration_solutions_left_out",
    "holdout": "holdout_solutions_left_out",
    "unlabelled": "solutions_without_labels",
    "no_path": "solutions_with_labels_of_no_step",
    "unrated": "solutions_beginning_unrated",
    "own_step": "solutions_beginning_own_step",
    "neutral": "solutions_beginning_neutral",
    "unknown_error": "solutions_with_unknown_first_error",
    "other_format": "solutions_of_another_format",
    "ambiguous": "solutions_with_marks_of_the_format",
    "no_correction": "solutions_without_correction",
    NO_ROW: "solutions_not_expressible",
}
_ENDS = {
    "unrated": "lines_ended_before_unrated",
    "own_step": "lines_ended_before_own_step",
    "neutral": "lines_ended_before_neutral",
}
_HELD = {
    "labels": "n_labels",
    "merged": "labels_merged",
    "alternatives": "alternative_ratings_left_out",
    "own_steps": "own_steps_not_marked",
    "error_types": "error_types_left_out",
    "dimensions": "dimensions_left_out",
    "accepted": "accepted_marks_left_out",
    "hints": "hint_draws_left_out",
    "draws": "draws_left_out",
    "guidelines": "guidelines_left_out",
}
