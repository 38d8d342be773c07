"""Monitors new labels and stores suspected batches, on which a person decides."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotation.core import audit
from annotation.core.periodic import for_each
from annotation.labels.annotators import batches
from annotation.labels.annotators.batches import in_use
from annotation.labels.annotators.haste import Timed
from annotation.labels.annotators.judged_labels import LATEST, comments_of, judge_by_model, latest_labels, name_of
from annotation.labels.annotators.suspicions import Material, Suspicion, find_suspicions
from annotation.models import Annotation, LabelBatch, Membership, Project
from annotation.work.annotations import own_opinions
from prm.vocabulary import FINISHED

PERIOD = timedelta(days=90)  # older labels do not raise an alarm

Judge, State = LabelBatch.Judge, LabelBatch.State


def watch_projects() -> int:
    """Check the labels of every active project; returns how many new batches are suspected."""
    return for_each(Project.objects.filter(state=Project.State.ACTIVE), lambda project: len(watch(project)))


def watch(project: Project) -> list[LabelBatch]:
    """Store new suspected batches and extend known ones; returns the new ones.

    A person has at most one suspected batch at a time. If the policy says so, batches that people's labels reveal are
    set aside at once. The other checks never set labels aside: a surprise may be what the model has to learn, and a
    person can be fast and right.
    """
    suspicions = find_suspicions(
        material_of(project),
        labels_between_false_alarms=project.policies.quality.labels_between_false_alarms,
        cleared_until=_cleared(project),
    )
    stored = [_store_batch(project, suspicion) for suspicion in suspicions]
    return [batch for batch in stored if batch is not None]


def material_of(project: Project) -> Material:
    """What the checks of annotators read."""
    labels = latest_labels(project)
    return Material(labels, timed_labels(project), comments_of(labels), judge_by_model(project, labels))


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
def _store_batch(project: Project, suspicion: Suspicion) -> LabelBatch | None:
    """The stored batch if it is new; None for a known one, which may be extended."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    kind, _, pk = suspicion.who.partition(" ")
    owner = {f"{kind}_id": int(pk)}
    since, until, judge = suspicion.since, suspicion.until, Judge(suspicion.check)
    known = project.label_batches.filter(**owner, state=State.SUSPECTED).first()
    if known is not None:
        if known.until < until:
            before = {"judge": known.judge, "until": known.until.isoformat(), "evidence": known.evidence}
            known.until, known.since = until, min(known.since, since)
            known.judge, known.evidence = judge, suspicion.evidence
            known.save(update_fields=["since", "until", "judge", "evidence"])
            _audit(known, before)
        return None
    batch = LabelBatch.objects.create(
        project=project, **owner, since=since, until=until, judge=judge, evidence=suspicion.evidence
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


def timed_labels(project: Project) -> list[Timed]:
    """The times of people's latest labels that rate steps and are in use.

    A label that was sent without a time took at most as long as since its annotator's submission before.
    """
    labels = own_opinions(project).filter(
        annotator__kind=Membership.Kind.PERSON,
        finish_reason__in=FINISHED,
        submitted_at__gte=timezone.now() - PERIOD,
    )
    latest = Annotation.objects.filter(pk__in=in_use(labels).order_by("-pk").values("pk")[:LATEST])
    is_rated = Q(ratings__state="rated")
    rows = (
        latest.annotate(steps=Count("ratings", filter=is_rated))
        .filter(steps__gt=0)
        .annotate(characters=Sum(Length("ratings__step__text"), filter=is_rated))
        .order_by("submitted_at", "pk")
        .values_list("pk", "annotator", "submitted_at", "total_ms", "steps", "characters", "lease")
    )
    timed, before = [], dict[int | None, datetime]()
    for pk, annotator, at, total_ms, steps, characters, lease in rows:
        ms = float(total_ms or 0)
        if not ms and lease and annotator in before:
            ms = (at - before[annotator]).total_seconds() * 1000
        before[annotator] = at
        if ms:
            timed.append(Timed(pk, name_of(annotator, None), at, ms, steps, characters or 0))
    return timed
