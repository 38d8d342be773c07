"""Plans an export: what the file will have, what it leaves out and why."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core.errors import DomainError
from annotation.models import Snapshot
from prm.errors import UnknownNameError
from prm.exporters import EXPORTERS, Exporter
from prm.messages import Message, joined
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS

DEFAULT_SPLITS = ("pool",)


@dataclass(frozen=True)
class Plan:
    """An export before it is made.

    `solutions` counts those in the file, `left_out` the others by reason (a split, or why there is no line),
    `ends_early` TRL lines that end before the agreed path, `not_held` details that the format cannot express.
    `refusal` is raised if the export is made anyway.
    """

    format: str
    splits: tuple[str, ...]
    solutions: int
    left_out: dict[str, int]
    ends_early: dict[str, int]
    not_held: dict[str, int]
    refusal: DomainError | None

    def sentences(self) -> list[Message]:
        """A phrase for each loss."""
        return [*_phrases(_LEFT_OUT, self.left_out), *_phrases(_ENDS, self.ends_early), *_phrases(_HELD, self.not_held)]


def plan_export(
    snapshot: Snapshot, format: str, *, neutral: str = "positive", splits: Collection[str] | None = None
) -> Plan:
    """Plan an export with the options of `export_snapshot`.

    Raises DomainError (`unknown_format`, `unknown_policy`, `unknown_split`).
    """
    exporter = _check(format, neutral, splits or ())
    counts = snapshot.counts
    held = _splits(snapshot, exporter, splits)
    by_split = counts.get("splits", {})
    left_out = Counter[str]({split: by_split[split] for split in SPLITS if split in by_split and split not in held})
    ends_early = Counter[str]()
    solutions = sum(by_split.values()) - left_out.total()
    if exporter.two_classes:
        for split, solution_counts in counts.get("trl", {}).get("drop" if neutral == "drop" else "keep", {}).items():
            if split in held:
                left_out.update(solution_counts["left_out"])
                ends_early.update(solution_counts["ends_early"])
                solutions -= sum(solution_counts["left_out"].values())
    elif format == "prm800k" and (unlabelled := sum(counts.get("unlabelled", {}).get(split, 0) for split in held)):
        left_out["unlabelled"] = unlabelled
        solutions -= unlabelled
    not_held = {kind: n for kind in exporter.not_held if (n := _count_not_held(counts, kind))}
    refusal = _refusal(exporter, counts.get("source_kinds", {}), solutions, left_out)
    return Plan(format, held, solutions, dict(left_out), dict(ends_early), not_held, refusal)


def _check(format: str, neutral: str, splits: Collection[str]) -> Exporter:
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
    return exporter


def _splits(snapshot: Snapshot, exporter: Exporter, requested: Collection[str] | None) -> tuple[str, ...]:
    """The splits requested for the export or the snapshot; else all, or the pool if the format has no splits."""
    wanted = requested or snapshot.filters.get("splits") or (DEFAULT_SPLITS if exporter.nameless else SPLITS)
    return tuple(split for split in SPLITS if split in wanted)


def _refusal(
    exporter: Exporter, kinds: Mapping[str, int], solutions: int, left_out: Mapping[str, int]
) -> DomainError | None:
    if exporter.nameless and len(kinds) > 1:
        return DomainError(
            Message("mixed_kinds", kinds=", ".join(f"{kind}: {n}" for kind, n in kinds.items()), format=exporter.title),
            {"source_kinds": dict(kinds)},
        )
    if not solutions:
        reasons = joined(list(_phrases(_LEFT_OUT, left_out)), "comma_list")
        message = Message("export_empty_after_exclusions", reasons=reasons) if reasons else Message("export_empty")
        return DomainError(message, {"left_out": dict(left_out)}, code="empty_export")
    return None


def _count_not_held(counts: Mapping[str, Any], kind: str) -> int:
    if kind == "hints":
        return sum(counts.get("hints", {}).get(arm, 0) for arm in ("shown", "blind"))
    count = counts.get(kind, 0)
    return sum(count.values()) if isinstance(count, dict) else int(count)


def _phrases(codes: Mapping[str, str], counts: Mapping[str, int]) -> Iterator[Message]:
    return (Message(code, n=counts[kind]) for kind, code in codes.items() if kind in counts)


_LEFT_OUT = {
    "pool": "pool_solutions_left_out",
    "calibration": "calibration_solutions_left_out",
    "holdout": "holdout_solutions_left_out",
    "unlabelled": "solutions_without_labels",
    "no_path": "solutions_with_labels_of_no_step",
    "unrated": "solutions_beginning_unrated",
    "own_step": "solutions_beginning_own_step",
    "neutral": "solutions_beginning_neutral",
}
_ENDS = {
    "unrated": "lines_ended_before_unrated",
    "own_step": "lines_ended_before_own_step",
    "neutral": "lines_ended_before_neutral",
}
_HELD = {
    "alternatives": "alternative_ratings_left_out",
    "own_steps": "own_steps_not_marked",
    "error_types": "error_types_left_out",
    "dimensions": "dimensions_left_out",
    "accepted": "accepted_marks_left_out",
    "hints": "hint_draws_left_out",
}
