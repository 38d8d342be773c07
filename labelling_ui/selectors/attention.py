"""What needs a person, each with a count and the page where the rows are."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from annotation.labels.datasets.snapshots import changed_snapshots
from annotation.labels.quality.review_queue import review_counts
from annotation.loop.registry import champion_of
from annotation.loop.rounds.limits import below_floor
from annotation.models import Dispute, ImportJob, LabelBatch, Membership, TrainingRun
from annotation.work.annotations import latest_annotations
from annotation.work.gold.gold_answers import to_review
from annotation.work.gold.screening import kept_out

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
    suspected = project.label_batches.filter(state=LabelBatch.State.SUSPECTED)
    hasty = suspected.filter(judge=LabelBatch.Judge.PACE)
    imports = ImportJob.objects.filter(project=project, created_at__gte=recent)
    champion = champion_of(project)
    found = [
        _concern(
            _("model that was not measured and needs a manager’s confirmation before it answers programs"),
            int(champion is not None and not champion.answers_programs),
            reverse("model", args=[project.slug, champion.number]) if champion else "",
        ),
        _concern(
            ngettext_lazy("disputed reference", "disputed references", "n"),
            project.disputes.filter(state=Dispute.State.OPEN).count(),
            to("review", "?reason=dispute"),
        ),
        _concern(
            ngettext_lazy(
                "solution whose first error people disagree on", "solutions whose first error people disagree on", "n"
            ),
            waiting["disagreement"],
            to("review", "?reason=disagreement"),
        ),
        _concern(
            ngettext_lazy(
                "solution with a step that somebody flagged or was unsure of",
                "solutions with a step that somebody flagged or was unsure of",
                "n",
            ),
            waiting["doubt"],
            to("review", "?reason=doubt"),
        ),
        _concern(
            ngettext_lazy(
                "label that was sent back and waits for its annotator",
                "labels that were sent back and wait for their annotators",
                "n",
            ),
            waiting["sent_back"],
            to("review"),
        ),
        _concern(
            ngettext_lazy("suspected batch of labels", "suspected batches of labels", "n"),
            suspected.count() - len(hasty),
            to("quality", "?state=suspected"),
        ),
        _concern(
            ngettext_lazy(
                "annotator who rates too fast to have read the steps: look at their labels and talk to them",
                "annotators who rate too fast to have read the steps: look at their labels and talk to them",
                "n",
            ),
            len(hasty),
            reverse("member", args=[project.slug, hasty[0].annotator_id])
            if len(hasty) == 1
            else to("quality", "?state=suspected"),
        ),
        _concern(
            ngettext_lazy(
                "gold solution that is worn out, or that good annotators dispute",
                "gold solutions that are worn out, or that good annotators dispute",
                "n",
            ),
            to_review(project).count(),
            to("gold", "?review=on"),
        ),
        _concern(
            ngettext_lazy(
                "person whose screening failed, or whom a policy paused",
                "people whose screening failed, or whom a policy paused",
                "n",
            ),
            kept_out(project).count(),
            to("members") if manages else "",
        ),
        _concern(
            ngettext_lazy(
                "label that gave up, or calls the problem bad", "labels that gave up, or call the problem bad", "n"
            ),
            latest_annotations(project).filter(finish_reason__in=["give_up", "bad_problem"]).count(),
            to("labels", "?finish_reason=give_up&finish_reason=bad_problem"),
        ),
        _concern(
            _("rule that holds rounds back: people agree less than the floor"),
            int(below_floor(project) is not None),
            to("solutions", "?disagreement=on"),
        ),
        _concern(
            ngettext_lazy("failed run in the last 14 days", "failed runs in the last 14 days", "n"),
            TrainingRun.objects.filter(project=project, state="failed", created_at__gte=recent).count(),
            to("runs", "?state=failed"),
        ),
        _concern(
            ngettext_lazy("failed import in the last 14 days", "failed imports in the last 14 days", "n"),
            imports.filter(state=ImportJob.State.FAILED).count(),
            to("import", "?state=failed") if manages else "",
        ),
        _concern(
            ngettext_lazy("rejected import line in the last 14 days", "rejected import lines in the last 14 days", "n"),
            imports.aggregate(n=Sum("rejected"))["n"] or 0,
            to("import", "?rejected=on") if manages else "",
        ),
        _concern(
            ngettext_lazy(
                "snapshot whose file was changed after it was frozen, in the last 14 days",
                "snapshots whose files were changed after they were frozen, in the last 14 days",
                "n",
            ),
            changed_snapshots(project, since=recent),
            to("export") if manages else "",
        ),
    ]
    return [concern for concern in found if concern.count]


def _concern(label: Promise, count: int, href: str) -> Concern:
    return Concern(label % {"n": count}, count, href)
