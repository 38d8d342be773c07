"""Labels held against what their givers had no part in: other people's labels, or the verdict of the champion."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.quality.alarm import Judged
from annotation.labels.quality.batches import in_use
from annotation.models import HIDDEN_LANES, Annotation, Lane, ModelVersion, PoolScore, Project
from annotation.work.annotations import first_annotations, latest_annotations
from annotation.work.gold.designation import active_gold
from prm.vocabulary import MACHINES

LATEST = 5000
NO_ERROR = -1


@dataclass(frozen=True)
class Told:
    """A label that tells a first error; `who` is an annotator ("annotator 7") or a source ("source 3")."""

    label: int
    solution: int
    who: str
    machine: bool
    first_error: int
    at: datetime
    adjudicates: bool


def latest_told(project: Project) -> list[Told]:
    """The latest labels that count, people's and those that came with files, oldest first.

    The reference of a gold solution decides as an adjudication does. Of hidden gold a person's first word counts,
    since a later one may know the reference; what is answered in a screening is left out.
    """
    ordinary = latest_annotations(project).exclude(lane__in=HIDDEN_LANES)
    labels = ordinary | first_annotations(project).filter(lane=Lane.GOLD)
    labels |= Annotation.objects.filter(project=project, annotator__isnull=True)
    settled = set(active_gold(project).values_list("annotation", flat=True))
    rows = (
        in_use(labels.filter(first_error__isnull=False))
        .order_by("-pk")
        .values_list(
            "pk", "solution", "annotator", "source", "source__kind", "first_error", "submitted_at", "adjudicates"
        )[:LATEST]
    )
    return [
        Told(pk, solution, name_of(annotator, source), kind in MACHINES, word, at, adjudicates or pk in settled)
        for pk, solution, annotator, source, kind, word, at, adjudicates in reversed(rows)
        if word is not None
    ]


def name_of(annotator: int | None, source: int | None) -> str:
    return f"source {source}" if annotator is None else f"annotator {annotator}"


def judge_by_overlap(told: Sequence[Told]) -> list[Judged]:
    """Each label against what most others say of its solution; an adjudication decides alone, a machine never. Pure."""
    by_solution: dict[int, list[Told]] = defaultdict(list)
    for one in told:
        by_solution[one.solution].append(one)
    judged = []
    for labels in by_solution.values():
        for one in labels:
            others = [other for other in labels if other.who != one.who and not other.machine]
            reference = _most([other for other in others if other.adjudicates] or others)
            if reference is not None and not one.adjudicates:
                against = frozenset(other.who for other in others if other.first_error == reference)
                judged.append(_judged(one, reference, against))
    return judged


def judge_by_model(project: Project, told: Sequence[Told]) -> list[Judged]:
    """Each label that no champion has learned from against the champion's verdict on its solution."""
    judged: list[Judged] = []
    for version in project.model_versions.filter(state=ModelVersion.State.CHAMPION).select_related("snapshot"):
        if version.snapshot is None:
            continue
        fresh = [one for one in told if one.at > version.snapshot.created_at]
        verdicts = _verdicts(version, {one.solution for one in fresh})
        judged += [_judged(one, verdicts[one.solution]) for one in fresh if one.solution in verdicts]
    return judged


def _verdicts(version: ModelVersion, solutions: Iterable[int]) -> dict[int, int]:
    """The first step that the model takes for an error, -1 for none; where it could read the whole solution."""
    scores = PoolScore.objects.filter(model_version=version, solution__in=solutions)
    threshold = version.manifest["threshold"]
    found = {}
    for solution, mean in scores.values_list("solution", "mean"):
        if None not in mean:
            found[solution] = next((n for n, good in enumerate(mean) if good < threshold), NO_ERROR)
    return found


def _most(labels: Sequence[Told]) -> int | None:
    """What most of them say; None where nobody says anything, or as many say another thing."""
    votes = Counter(one.first_error for one in labels).most_common(2)
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


def _judged(one: Told, reference: int, against: frozenset[str] = frozenset()) -> Judged:
    return Judged(one.label, one.who, one.at, reference != NO_ERROR, one.first_error != reference, against)
