"""What needs a person, each with a count and the page where the rows are."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Dispute, ImportJob, LabelBatch, Membership, TrainingRun
from annotation.quality.gold_answers import to_review
from annotation.quality.review_queue import review_counts
from annotation.quality.statistics import latest_annotations
from annotation.queue.screening import kept_out
from annotation.rounds.limits import below_floor

FAILURES_COUNT_FOR = timedelta(days=14)


@dataclass(frozen=True)
class Concern:
    """`href` leads to the rows behind the count, empty where this member may not open them."""

    label: str
    count: int
    href: str


def concerns(member: Membership) -> list[Concern]:
    """Everything that waits for someone in this project, what is nothing left out."""
    project, manages = member.project, member.role == Membership.Role.MANAGER
    recent = timezone.now() - FAILURES_COUNT_FOR

    def to(name: str, query: str = "") -> str:
        return reverse(name, args=[project.slug]) + query

    waiting = review_counts(project)
    imports = ImportJob.objects.filter(project=project, created_at__gte=recent)
    found = [
        Concern(
            _("disputed references"),
            project.disputes.filter(state=Dispute.State.OPEN).count(),
            to("review", "?reason=dispute"),
        ),
        Concern(
            _("solutions whose first error people disagree on"),
            waiting["disagreement"],
            to("review", "?reason=disagreement"),
        ),
        Concern(
            _("solutions with a step that somebody flagged or was unsure of"),
            waiting["doubt"],
            to("review", "?reason=doubt"),
        ),
        Concern(
            _("labels that were sent back and wait for their annotators"),
            waiting["sent_back"],
            to("review"),
        ),
        Concern(
            _("suspected batches of labels"),
            project.label_batches.filter(state=LabelBatch.State.SUSPECTED).count(),
            to("quality", "?state=suspected"),
        ),
        Concern(
            _("gold solutions that are worn out, or that good annotators dispute"),
            to_review(project).count(),
            to("gold", "?review=on"),
        ),
        Concern(
            _("people whose screening failed, or whom a policy paused"),
            kept_out(project).count(),
            to("members") if manages else "",
        ),
        Concern(
            _("labels that gave up, or call the problem bad"),
            latest_annotations(project).filter(finish_reason__in=["give_up", "bad_problem"]).count(),
            to("labels", "?finish_reason=give_up&finish_reason=bad_problem"),
        ),
        Concern(
            _("rule that holds rounds back: people agree less than the floor"),
            int(below_floor(project) is not None),
            to("solutions", "?disagreement=on"),
        ),
        Concern(
            _("failed runs in the last 14 days"),
            TrainingRun.objects.filter(project=project, state="failed", created_at__gte=recent).count(),
            to("runs", "?state=failed"),
        ),
        Concern(
            _("failed imports in the last 14 days"),
            imports.filter(state=ImportJob.State.FAILED).count(),
            to("import", "?state=failed") if manages else "",
        ),
        Concern(
            _("rejected import lines in the last 14 days"),
            imports.aggregate(n=Sum("rejected"))["n"] or 0,
            to("import", "?rejected=on") if manages else "",
        ),
    ]
    return [concern for concern in found if concern.count]
