"""Judges labels by an independent reference: other people's labels, or the champion's verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.annotators.alarm import Judged
from annotation.labels.annotators.batches import in_use
from annotation.models import HIDDEN_LANES, Lane, ModelVersion, PoolScore, Project
from annotation.work.annotations import current_annotations, first_annotations
from annotation.work.gold.designation import active_gold
from prm.vocabulary import MACHINES

LATEST = 5000
NO_ERROR = -1


@dataclass(frozen=True)
class FirstErrorLabel:
    """A label with a first error; `who` is an annotator ("annotator 7") or a source ("source 3")."""

    label: int
    solution: int
    who: str
    machine: bool
    first_error: int
    at: datetime
    adjudicates: bool


def latest_labels(project: Project) -> list[FirstErrorLabel]:
    """The latest labels in use, people's and imported ones, oldest first.

    A gold reference decides like an adjudication. On hidden gold only a person's first revision counts, because later
    ones may be based on the reference. Answers in screening are left out.
    """
    ordinary = current_annotations(project).exclude(lane__in=HIDDEN_LANES)
    labels = ordinary | first_annotations(project).filter(lane=Lane.GOLD)
    settled = set(active_gold(project).values_list("annotation", flat=True))
    rows = (
        in_use(labels.filter(first_error__isnull=False))
        .order_by("-pk")
        .values_list(
            "pk", "solution", "annotator", "source", "source__kind", "first_error", "submitted_at", "adjudicates"
        )[:LATEST]
    )
    return [
        FirstErrorLabel(pk, solution, name_of(annotator, source), kind in MACHINES, error, at, decides or pk in settled)
        for pk, solution, annotator, source, kind, error, at, decides in reversed(rows)
        if error is not None
    ]


def name_of(annotator: int | None, source: int | None) -> str:
    return f"source {source}" if annotator is None else f"annotator {annotator}"


def judge_by_overlap(labels: Sequence[FirstErrorLabel]) -> list[Judged]:
    """Judge each label by the majority of the others; an adjudication decides alone, a machine never counts. Pure."""
    by_solution: dict[int, list[FirstErrorLabel]] = defaultdict(list)
    for label in labels:
        by_solution[label.solution].append(label)
    judged = []
    for same_solution in by_solution.values():
        for label in same_solution:
            peers = [peer for peer in same_solution if peer.who != label.who and not peer.machine]
            reference = _majority([peer for peer in peers if peer.adjudicates] or peers)
            if reference is not None and not label.adjudicates:
                against = frozenset(peer.who for peer in peers if peer.first_error == reference)
                judged.append(_judge(label, reference, against))
    return judged


def judge_by_model(project: Project, labels: Sequence[FirstErrorLabel]) -> list[Judged]:
    """Judge each label that the champion was not trained on by the champion's verdict on its solution."""
    judged: list[Judged] = []
    for version in project.model_versions.filter(state=ModelVersion.State.CHAMPION).select_related("snapshot"):
        if version.snapshot is None:
            continue
        fresh = [label for label in labels if label.at > version.snapshot.created_at]
        verdicts = _verdicts(version, {label.solution for label in fresh})
        judged += [_judge(label, verdicts[label.solution]) for label in fresh if label.solution in verdicts]
    return judged


def _verdicts(version: ModelVersion, solutions: Iterable[int]) -> dict[int, int]:
    """The model's first error (-1 for none) of each solution for which it scored every step."""
    scores = PoolScore.objects.filter(model_version=version, solution__in=solutions)
    threshold = version.manifest["threshold"]
    verdicts = {}
    for solution, mean in scores.values_list("solution", "mean"):
        if None not in mean:
            verdicts[solution] = next((n for n, good in enumerate(mean) if good < threshold), NO_ERROR)
    return verdicts


def _majority(labels: Sequence[FirstErrorLabel]) -> int | None:
    """The most frequent first error; None for no labels or a tie."""
    votes = Counter(label.first_error for label in labels).most_common(2)
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


def _judge(label: FirstErrorLabel, reference: int, against: frozenset[str] = frozenset()) -> Judged:
    return Judged(label.label, label.who, label.at, reference != NO_ERROR, label.first_error != reference, against)
