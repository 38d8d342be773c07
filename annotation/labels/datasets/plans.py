"""Plans an export: what the file will hold, what it leaves out and why, before it is written."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core.errors import DomainError
from annotation.core.wording import Said, counted, joined, said
from annotation.models import Snapshot
from prm.errors import UnknownNameError
from prm.exporters import EXPORTERS, Exporter
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

    def sentences(self) -> list[Said]:
        """All that is lost, a phrase each."""
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
        raise DomainError("unknown_format", error.args[0]) from None
    if neutral not in NEUTRAL_POLICIES:
        raise DomainError(
            "unknown_policy",
            said("Neutral steps are {known}; not '{neutral}'.", known=", ".join(NEUTRAL_POLICIES), neutral=neutral),
        )
    for split in splits:
        if split not in SPLITS:
            raise DomainError(
                "unknown_split",
                said("There is no split '{split}'. Choose from: {known}.", split=split, known=", ".join(SPLITS)),
            )
    return exporter


def _splits(snapshot: Snapshot, exporter: Exporter, requested: Collection[str] | None) -> tuple[str, ...]:
    """The splits requested here or for the snapshot, else all that the format can distinguish."""
    wanted = requested or snapshot.filters.get("splits") or (DEFAULT_SPLITS if exporter.nameless else SPLITS)
    return tuple(split for split in SPLITS if split in wanted)


def _refusal(
    exporter: Exporter, kinds: Mapping[str, int], solutions: int, left_out: Mapping[str, int]
) -> DomainError | None:
    if exporter.nameless and len(kinds) > 1:
        return DomainError(
            "mixed_kinds",
            said(
                "This snapshot holds labels of several kinds ({kinds}), and a line of {format} cannot say which it is "
                "of. Make a snapshot of one kind (`source_kinds`), or export another format.",
                kinds=", ".join(f"{kind}: {n}" for kind, n in kinds.items()),
                format=exporter.title,
            ),
            {"source_kinds": dict(kinds)},
        )
    if not solutions:
        reasons = joined(list(_phrases(_LEFT_OUT, left_out)), ", ")
        message = (
            said("The file would be empty. Left out: {reasons}.", reasons=reasons)
            if reasons
            else said("The file would be empty: the snapshot has no solutions.")
        )
        return DomainError("empty_export", message, {"left_out": dict(left_out)})
    return None


def _count_not_held(counts: Mapping[str, Any], kind: str) -> int:
    if kind == "hints":
        return sum(counts.get("hints", {}).get(arm, 0) for arm in ("shown", "blind"))
    count = counts.get(kind, 0)
    return sum(count.values()) if isinstance(count, dict) else int(count)


def _phrases(words: Mapping[str, Any], counts: Mapping[str, int]) -> Iterator[Said]:
    return (words[kind](n) for kind, n in counts.items())


_LEFT_OUT = {
    "pool": lambda n: counted("{n} solution of the pool", "{n} solutions of the pool", n=n),
    "calibration": lambda n: counted("{n} calibration solution", "{n} calibration solutions", n=n),
    "holdout": lambda n: counted("{n} holdout solution", "{n} holdout solutions", n=n),
    "unlabelled": lambda n: counted("{n} solution without labels", "{n} solutions without labels", n=n),
    "no_path": lambda n: counted(
        "{n} solution whose labels take no step", "{n} solutions whose labels take no step", n=n
    ),
    "unrated": lambda n: counted(
        "{n} solution whose first step is unsure or not rated",
        "{n} solutions whose first step is unsure or not rated",
        n=n,
    ),
    "own_step": lambda n: counted(
        "{n} solution whose first step an annotator wrote", "{n} solutions whose first step an annotator wrote", n=n
    ),
    "neutral": lambda n: counted(
        "{n} solution whose first step is neutral", "{n} solutions whose first step is neutral", n=n
    ),
}
_ENDS = {
    "unrated": lambda n: counted(
        "{n} line ends before a step that is unsure or not rated",
        "{n} lines end before a step that is unsure or not rated",
        n=n,
    ),
    "own_step": lambda n: counted(
        "{n} line ends before a step that an annotator wrote",
        "{n} lines end before a step that an annotator wrote",
        n=n,
    ),
    "neutral": lambda n: counted("{n} line ends before a neutral step", "{n} lines end before a neutral step", n=n),
}
_HELD = {
    "alternatives": lambda n: counted("{n} rating of an alternative", "{n} ratings of alternatives", n=n),
    "own_steps": lambda n: counted(
        "{n} step is not marked as written by an annotator", "{n} steps are not marked as written by annotators", n=n
    ),
    "error_types": lambda n: counted("{n} type of error", "{n} types of error", n=n),
    "dimensions": lambda n: counted(
        "{n} dimension or critique of a step", "{n} dimensions and critiques of steps", n=n
    ),
    "accepted": lambda n: counted(
        "{n} mark of a step accepted with others", "{n} marks of steps accepted with others", n=n
    ),
    "hints": lambda n: counted("{n} label’s draw of hints", "{n} labels’ draws of hints", n=n),
}
