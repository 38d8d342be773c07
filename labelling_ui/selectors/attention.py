"""Tasks that need a person, each with a count and the page that lists its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count, Q, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.labels.consensus.review_queue import review_counts
from annotation.labels.datasets.snapshots import changed_snapshots
from annotation.loop.registry import champion_of
from annotation.loop.rounds.limits import below_floor
from annotation.models import Dispute, ImportJob, LabelBatch, Membership, TrainingRun, Webhook
from annotation.work.annotations import latest_annotations
from annotation.work.gold.gold_answers import to_review
from annotation.work.gold.screening import excluded_members
from prm.vocabulary import GIVEN_UP

FAILURES_COUNT_FOR = timedelta(days=14)


@dataclass(frozen=True)
class Concern:
    """A count of open tasks; `href` is the page of its rows, empty if this member may not open it."""

    label: str
    count: int
    href: str


def concerns(member: Membership) -> list[Concern]:
    """The open tasks of this project. Counts of zero are left out."""
    return [concern for concern in _all(member) if concern.count]


def _all(member: Membership) -> Iterator[Concern]:
    project, since = member.project, timezone.now() - FAILURES_COUNT_FOR
    champion, waiting = champion_of(project), review_counts(project)
    suspected = list(project.label_batches.filter(state=LabelBatch.State.SUSPECTED).order_by())
    hasty = [batch for batch in suspected if batch.judge in (LabelBatch.Judge.READING, LabelBatch.Judge.PACE)]
    imports = ImportJob.objects.filter(project=project, created_at__gte=since).aggregate(
        failed=Count("pk", filter=Q(state=ImportJob.State.FAILED)), rejected=Sum("rejected")
    )

    def concern(label: Any, count: int, page: str, *args: object, query: str = "", managers: bool = False) -> Concern:
        opens = member.role == Membership.Role.MANAGER or not managers
        return Concern(label % {"n": count}, count, reverse(page, args=[project.slug, *args]) + query if opens else "")

    if champion is not None and not champion.answers_programs:
        label = _("unmeasured model that needs a manager’s confirmation before it answers programs")
        yield concern(label, 1, "model", champion.number)
    label = ngettext_lazy("disputed reference", "disputed references", "n")
    disputed = project.disputes.filter(state=Dispute.State.OPEN).count()
    yield concern(label, disputed, "review", query="?reason=dispute")
    label = ngettext_lazy(
        "solution whose first error people disagree on", "solutions whose first error people disagree on", "n"
    )
    yield concern(label, waiting["disagreement"], "review", query="?reason=disagreement")
    label = ngettext_lazy(
        "solution with a flagged or unsure step",
        "solutions with a flagged or unsure step",
        "n",
    )
    yield concern(label, waiting["doubt"], "review", query="?reason=doubt")
    label = ngettext_lazy(
        "label that was sent back and waits for its annotator",
        "labels that were sent back and wait for their annotators",
        "n",
    )
    yield concern(label, waiting["sent_back"], "review")
    label = ngettext_lazy("suspected batch of labels", "suspected batches of labels", "n")
    yield concern(label, len(suspected) - len(hasty), "quality", query="?state=suspected")
    label = ngettext_lazy(
        "annotator who rates faster than anyone can read",
        "annotators who rate faster than anyone can read",
        "n",
    )
    if len(hasty) == 1:
        yield concern(label, 1, "annotator", hasty[0].annotator_id)
    else:
        yield concern(label, len(hasty), "quality", query="?state=suspected")
    label = ngettext_lazy(
        "gold solution that is worn out or disputed by good annotators",
        "gold solutions that are worn out or disputed by good annotators",
        "n",
    )
    yield concern(label, to_review(project).count(), "gold", query="?review=on")
    label = ngettext_lazy(
        "person who failed the screening or was paused by a policy",
        "people who failed the screening or were paused by a policy",
        "n",
    )
    yield concern(label, excluded_members(project).count(), "members", managers=True)
    label = ngettext_lazy(
        "label that gave up or reports a bad problem", "labels that gave up or report a bad problem", "n"
    )
    given_up = latest_annotations(project).filter(finish_reason__in=GIVEN_UP).count()
    yield concern(label, given_up, "labels", query="?finish_reason=give_up&finish_reason=bad_problem")
    label = _("rule that holds rounds back because agreement is too low")
    yield concern(label, int(below_floor(project) is not None), "solutions", query="?disagreement=on")
    label = ngettext_lazy("failed run in the last 14 days", "failed runs in the last 14 days", "n")
    runs = project.training_runs.filter(state=TrainingRun.State.FAILED, created_at__gte=since).count()
    yield concern(label, runs, "runs", query="?state=failed")
    label = ngettext_lazy("failed import in the last 14 days", "failed imports in the last 14 days", "n")
    yield concern(label, imports["failed"], "import", query="?state=failed", managers=True)
    label = ngettext_lazy("rejected import line in the last 14 days", "rejected import lines in the last 14 days", "n")
    yield concern(label, imports["rejected"] or 0, "import", query="?rejected=on", managers=True)
    label = ngettext_lazy(
        "snapshot whose file was changed after it was frozen, in the last 14 days",
        "snapshots whose files were changed after they were frozen, in the last 14 days",
        "n",
    )
    yield concern(label, changed_snapshots(project, since=since), "datasets", managers=True)
    label = ngettext_lazy("webhook that was disabled after failures", "webhooks that were disabled after failures", "n")
    disabled = project.webhooks.filter(state=Webhook.State.DISABLED).count()
    yield concern(label, disabled, "webhooks", managers=True)
