"""Judges labels by an independent reference: other people's labels, or the champion's verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.annotators.alarm import Judged
from annotation.labels.annotators.batches import in_use
from annotation.models import HIDDEN_LANES, Annotation, Lane, ModelVersion, PoolScore, Project, StepRating
from annotation.work.annotations import current_annotations, first_annotations
from annotation.work.gold.designation import active_gold
from prm.vocabulary import MACHINES, NO_ERROR

LATEST = 5000
LONG_COMMENT = 20  # characters; shorter comments may be equal by chance


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


@dataclass(frozen=True)
class Reference:
    """The first error that others name, and who of them does (`against`, if a label differs)."""

    first_error: int
    against: frozenset[str] = frozenset()


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


def comments_of(labels: Sequence[FirstErrorLabel]) -> dict[int, frozenset[str]]:
    """The long comments of labels on solutions with several labels, by label."""
    shared = [one.label for some in by_solution(labels).values() if len(some) > 1 for one in some]
    texts: dict[int, list[str]] = defaultdict(list)
    for rows in (
        Annotation.objects.filter(pk__in=shared).exclude(comment="").values_list("pk", "comment"),
        StepRating.objects.filter(annotation__in=shared).exclude(comment="").values_list("annotation", "comment"),
    ):
        for label, comment in rows:
            texts[label].append(comment)
    return {label: long for label, some in texts.items() if (long := long_comments(some))}


def name_of(annotator: int | None, source: int | None) -> str:
    return f"source {source}" if annotator is None else f"annotator {annotator}"


def references_of(labels: Sequence[FirstErrorLabel]) -> dict[int, Reference]:
    """The reference of each label that has one: the majority of the others. Pure.

    An adjudication decides alone, and a machine never counts.
    """
    references = {}
    for same_solution in by_solution(labels).values():
        for label in same_solution:
            peers = [peer for peer in same_solution if peer.who != label.who and not peer.machine]
            first_error = majority([peer for peer in peers if peer.adjudicates] or peers)
            if first_error is not None and not label.adjudicates:
                against = frozenset(peer.who for peer in peers if peer.first_error == first_error)
                references[label.label] = Reference(first_error, against)
    return references


def by_solution(labels: Iterable[FirstErrorLabel]) -> dict[int, list[FirstErrorLabel]]:
    """The labels of each solution. Pure."""
    groups: dict[int, list[FirstErrorLabel]] = defaultdict(list)
    for label in labels:
        groups[label.solution].append(label)
    return groups


def of_people(labels: Iterable[FirstErrorLabel]) -> dict[str, list[FirstErrorLabel]]:
    """Each person's own labels in order, without machines and adjudications. Pure."""
    groups: dict[str, list[FirstErrorLabel]] = defaultdict(list)
    for label in sorted(labels, key=lambda label: (label.at, label.label)):
        if not label.machine and not label.adjudicates:
            groups[label.who].append(label)
    return groups


def long_comments(texts: Iterable[str]) -> frozenset[str]:
    """The comments that are too long to be equal by chance, without differences in case and spaces. Pure."""
    plain = (" ".join(text.split()).casefold() for text in texts)
    return frozenset(text for text in plain if len(text) >= LONG_COMMENT)


def judge_by_overlap(labels: Sequence[FirstErrorLabel]) -> list[Judged]:
    """Judge each label by its reference. Pure."""
    references = references_of(labels)
    return [
        _judge(label, references[label.label].first_error, references[label.label].against)
        for same_solution in by_solution(labels).values()
        for label in same_solution
        if label.label in references
    ]


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
    threshold = version.threshold
    if threshold is None:
        return {}
    return {
        solution: threshold.first_below(mean)
        for solution, mean in scores.values_list("solution", "mean")
        if None not in mean
    }


def majority(labels: Sequence[FirstErrorLabel]) -> int | None:
    """The most frequent first error; None for no labels or a tie. Pure."""
    votes = Counter(label.first_error for label in labels).most_common(2)
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


def _judge(label: FirstErrorLabel, reference: int, against: frozenset[str] = frozenset()) -> Judged:
    return Judged(label.label, label.who, label.at, reference != NO_ERROR, label.first_error != reference, against)
