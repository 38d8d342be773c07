"""Reads the labels with and without hints, for each policy under which hints were drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from django.db.models import Avg, Case, Count, F, FloatField, Max, Min, Q, QuerySet, StdDev, Value, When
from django.db.models.functions import Cast, Ln

from annotation.core.bounds import about
from annotation.core.statements import fetch_one
from annotation.labels.annotators.anchoring import (
    Arm,
    Gaps,
    Known,
    Logs,
    WeekOfHints,
    difference,
    on_known,
    pace_of,
    ratio,
    right_by_week,
)
from annotation.models import Annotation, Hint, Project
from annotation.work.annotations import first_annotations
from annotation.work.gold.gold_accuracy import Answer, Share, share_of


class Design(NamedTuple):
    """A policy of hints: the share of solutions with a hint, and when a score is revealed."""

    share: float
    reveal: str


@dataclass(frozen=True)
class HintComparison:
    """First submissions with and without a hint, for one way of drawing hints."""

    share: Annotated[float, about("Share of solutions drawn for a hint.")]
    reveal: Annotated[Hint.Reveal, about("When the scores are shown.")]
    since: Annotated[datetime, about("The first submission.")]
    until: Annotated[datetime, about("The last submission.")]
    hinted: Annotated[Arm, about("The labels in the hint arm.")]
    blind: Annotated[Arm, about("The labels in the blind arm.")]
    gaps: Annotated[Gaps, about("Differences between the arms.")]
    opened: Annotated[Share, about("Labels in the hint arm whose annotator saw a score.")]
    changed: Annotated[Share, about("Ratings made before the score was seen and changed after it.")]
    weeks: Annotated[list[WeekOfHints], about("Accuracy on gold with and without hints, by week.")]


CHANGED = """
SELECT count(*) FILTER (WHERE rating.rating IS DISTINCT FROM (seen.pair->>1)::int), count(*)
FROM annotation_hint hint
JOIN annotation_annotation label ON label.lease_id = hint.lease_id AND label.revision = 1
JOIN annotation_labelsource source ON source.id = label.source_id
CROSS JOIN jsonb_array_elements(hint.seen) AS seen(pair)
JOIN annotation_step step ON step.solution_id = label.solution_id AND step.alternative = 0
    AND step.position = (seen.pair->>0)::int
JOIN annotation_steprating rating ON rating.annotation_id = label.id AND rating.step_id = step.id
WHERE label.project_id = %(project)s AND hint.shown AND hint.share = %(share)s AND hint.reveal = %(reveal)s
    AND source.kind = 'human' AND seen.pair->>1 IS NOT NULL
"""


def labels_drawn(project: Project) -> QuerySet[Annotation]:
    """People's first revisions on solutions with a draw for a hint, of both arms.

    Labels without a first error, after giving up, are left out.
    """
    return first_annotations(project).filter(lease__hint__isnull=False, source__kind="human", first_error__isnull=False)


def compare_hints(project: Project) -> list[HintComparison]:
    """The comparison of the two arms for each design with labels, latest design first."""
    known = _known(project)
    comparisons = []
    for design, rows in groupby(_figures(project), key=lambda row: Design(row["share"], row["reveal"])):
        figures = {row["shown"]: row for row in rows}
        arms = {shown: _arm(figures.get(shown), known.get((design, shown), []), project) for shown in (True, False)}
        weeks = right_by_week(
            known.get((design, True), []),
            known.get((design, False), []),
            day_of=lambda at: project.policies.rounds.start_of_day(at).date(),
            tolerance=project.policies.gold.tolerance,
        )
        comparisons.append(_comparison(project, design, figures, arms[True], arms[False], weeks))
    return sorted(comparisons, key=lambda comparison: comparison.until, reverse=True)


def _comparison(
    project: Project, design: Design, figures: dict[bool, Any], hinted: Arm, blind: Arm, weeks: list[WeekOfHints]
) -> HintComparison:
    parameters = {"project": project.pk, "share": design.share, "reveal": design.reveal}
    changed, could_change = fetch_one(CHANGED, parameters) or (0, 0)
    return HintComparison(
        share=design.share,
        reveal=Hint.Reveal(design.reveal),
        since=min(row["since"] for row in figures.values()),
        until=max(row["until"] for row in figures.values()),
        hinted=hinted,
        blind=blind,
        gaps=Gaps(
            agrees=difference(hinted.agrees, blind.agrees),
            finds=difference(hinted.finds, blind.finds),
            right=difference(hinted.right, blind.right),
            misled=difference(hinted.misled, blind.misled),
            pace=ratio(_logs(figures.get(True)), _logs(figures.get(False))),
        ),
        opened=share_of(figures[True]["opened"] if True in figures else 0, hinted.labels),
        changed=share_of(changed, could_change),
        weeks=weeks,
    )


def _arm(row: dict[str, Any] | None, known: list[Known], project: Project) -> Arm:
    right, misled = on_known(known, tolerance=project.policies.gold.tolerance)
    return Arm(
        labels=row["labels"] if row else 0,
        agrees=share_of(row["agrees"], row["verdicts"]) if row else share_of(0, 0),
        finds=share_of(row["finds"], row["labels"]) if row else share_of(0, 0),
        right=right,
        misled=misled,
        pace=pace_of(_logs(row)),
    )


def _logs(row: dict[str, Any] | None) -> Logs:
    return Logs(row["timed"], row["log_mean"], row["log_deviation"]) if row else Logs()


def _figures(project: Project) -> Iterator[Any]:
    """The figures of each arm of each design, aggregated by the database."""
    steps: Any = F("lease__hint__scores__len")
    if project.label_scheme.stop_at_first_error:
        steps = Case(When(first_error__gte=0, then=F("first_error") + 1), default=steps)
    pace = Ln(Cast(F("total_ms"), FloatField()) / Value(1000.0) / steps)
    timed = Q(total_ms__gt=0)
    return (
        labels_drawn(project)
        .values(share=F("lease__hint__share"), reveal=F("lease__hint__reveal"), shown=F("lease__hint__shown"))
        .annotate(
            labels=Count("pk"),
            verdicts=Count("pk", filter=Q(lease__hint__verdict__isnull=False)),
            agrees=Count("pk", filter=Q(first_error=F("lease__hint__verdict"))),
            finds=Count("pk", filter=Q(first_error__gte=0)),
            opened=Count("pk", filter=~Q(lease__hint__seen=[])),
            timed=Count("pk", filter=timed),
            log_mean=Avg(pace, filter=timed),
            log_deviation=StdDev(pace, filter=timed, sample=True),
            since=Min("submitted_at"),
            until=Max("submitted_at"),
        )
        .order_by("share", "reveal")
        .iterator()
    )


def _known(project: Project) -> dict[tuple[Design, bool], list[Known]]:
    """Labels on active gold by design and arm, without the references themselves."""
    rows = (
        labels_drawn(project)
        .filter(solution__gold_answer__active=True, solution__gold_answer__annotation__first_error__isnull=False)
        .exclude(solution__gold_answer__annotation__annotator=F("annotator"))
        .values_list(
            "lease__hint__share",
            "lease__hint__reveal",
            "lease__hint__shown",
            "lease__hint__verdict",
            "annotator",
            "solution",
            "first_error",
            "solution__gold_answer__annotation__first_error",
            "solution__gold_answer__accepted",
            "submitted_at",
        )
    )
    by_arm: dict[tuple[Design, bool], list[Known]] = {}
    for share, reveal, shown, verdict, person, solution, first_error, known, accepted, at in rows:
        if person is not None and known is not None:
            answer = Answer(person, solution, first_error, known, frozenset(accepted), at=at)
            by_arm.setdefault((Design(share, reveal), shown), []).append(Known(answer, verdict))
    return by_arm
