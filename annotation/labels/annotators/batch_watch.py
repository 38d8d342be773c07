"""Monitors new labels and stores suspected batches, on which a person decides."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from annotation.core import audit
from annotation.labels.annotators import batches
from annotation.labels.annotators.alarm import Alarm, Judged, find_alarms
from annotation.labels.annotators.haste import find_haste
from annotation.labels.annotators.judged_labels import judge_by_model, judge_by_overlap, latest_labels, name_of
from annotation.labels.annotators.pace import timed_labels
from annotation.models import LabelBatch, Project

Judge, State = LabelBatch.Judge, LabelBatch.State


def watch_projects() -> int:
    """Check the labels of every active project; returns how many new batches are suspected."""
    return sum(len(watch(project)) for project in Project.objects.filter(state=Project.State.ACTIVE))


def watch(project: Project) -> list[LabelBatch]:
    """Store new suspected batches and extend known ones; returns the new ones.

    Labels are judged by other people's labels first, then by the model for people without an alarm so far, then by the
    pace per step. If the policy says so, batches that people's labels reveal are set aside at once. The model and the
    pace never set labels aside: a surprise may be what the model has to learn, and a person can be fast and right.
    """
    labels = latest_labels(project)
    new: list[LabelBatch | None] = []
    named: set[str] = set()
    for judge, judged in ((Judge.OVERLAP, judge_by_overlap(labels)), (Judge.MODEL, judge_by_model(project, labels))):
        for alarm in _alarms(project, [label for label in judged if label.who not in named]):
            named.add(alarm.who)
            new.append(_store_batch(project, judge, alarm.who, alarm.since, alarm.until, _evidence(alarm)))
    for haste in find_haste(timed_labels(project), cleared_until=_cleared(project)):
        if haste.who not in named:
            usual = None if haste.usual_ms is None else round(haste.usual_ms)
            evidence = {"labels": haste.labels, "step_ms": round(haste.step_ms), "usual_ms": usual}
            new.append(_store_batch(project, Judge.PACE, haste.who, haste.since, haste.until, evidence))
    return [batch for batch in new if batch is not None]


def _alarms(project: Project, judged: list[Judged]) -> list[Alarm]:
    return find_alarms(
        judged,
        labels_between_false_alarms=project.policies.quality.labels_between_false_alarms,
        cleared_until=_cleared(project),
    )


def _cleared(project: Project) -> Mapping[str, datetime]:
    """The time up to which each person's labels were reviewed and accepted."""
    rows = (
        project.label_batches.filter(state=State.IN_USE)
        .order_by()
        .values_list("annotator", "source")
        .annotate(until=Max("until"))
    )
    return {name_of(annotator, source): until for annotator, source, until in rows}


@transaction.atomic
def _store_batch(
    project: Project, judge: str, who: str, since: datetime, until: datetime, evidence: dict[str, Any]
) -> LabelBatch | None:
    """The stored batch if it is new; None for a known one, which may be extended."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    kind, _, pk = who.partition(" ")
    owner = {f"{kind}_id": int(pk)}
    known = project.label_batches.filter(**owner, state=State.SUSPECTED).first()
    if known is not None:
        if known.until < until and known.judge == judge:
            before = {"until": known.until.isoformat(), "evidence": known.evidence}
            known.until, known.since, known.evidence = until, min(known.since, since), evidence
            known.save(update_fields=["since", "until", "evidence"])
            _audit(known, before)
        return None
    batch = LabelBatch.objects.create(
        project=project, **owner, since=since, until=until, judge=judge, evidence=evidence
    )
    _audit(batch, {})
    if project.policies.quality.set_aside and judge == Judge.OVERLAP:
        batch = batches.set_aside(by=None, batch=batch, reason="the project's policy")
    return batch


def _audit(batch: LabelBatch, before: dict[str, Any]) -> None:
    audit.record(
        by=None,
        action="labels.suspect",
        target=batch,
        before=before,
        after={"judge": batch.judge, "until": batch.until.isoformat(), "evidence": batch.evidence},
    )


def _evidence(alarm: Alarm) -> dict[str, Any]:
    return {
        "judged": alarm.judged,
        "differed": alarm.differed,
        "expected": round(alarm.expected, 1),
        "score": round(alarm.score, 2),
        "threshold": round(alarm.threshold, 2),
    }
