"""Concerns that need a person, each with a count and the page that lists its rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

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
from annotation.work.gold.screening import excluded_members
from prm.vocabulary import GIVEN_UP

FAILURES_COUNT_FOR = timedelta(days=14)


@dataclass(frozen=True)
class Concern:
    """`href` leads to the rows behind the count, empty where this member may not open them."""

    label: str
    count: int
    href: str


def concerns(member: Membership) -> list[Concern]:
    """Everything that waits for someone in this project. Counts of zero are left out."""
    since = timezone.now() - FAILURES_COUNT_FOR
    parts = (
        _model_concerns(member),
        _review_concerns(member),
        _annotator_concerns(member),
        _label_concerns(member),
        _run_concerns(member, since),
        _file_concerns(member, since),
    )
    return [concern for concern in chain(*parts) if concern.count]


def _model_concerns(member: Membership) -> Iterator[Concern]:
    champion = champion_of(member.project)
    yield _concern(
        _("model that was not measured and needs a manager’s confirmation before it answers programs"),
        int(champion is not None and not champion.answers_programs),
        _page(member, "model", champion.number) if champion else "",
    )


def _review_concerns(member: Membership) -> Iterator[Concern]:
    waiting = review_counts(member.project)
    yield _concern(
        ngettext_lazy("disputed reference", "disputed references", "n"),
        member.project.disputes.filter(state=Dispute.State.OPEN).count(),
        _page(member, "review", query="?reason=dispute"),
    )
    yield _concern(
        ngettext_lazy(
            "solution whose first error people disagree on", "solutions whose first error people disagree on", "n"
        ),
        waiting["disagreement"],
        _page(member, "review", query="?reason=disagreement"),
    )
    yield _concern(
        ngettext_lazy(
            "solution with a step that somebody flagged or was unsure of",
            "solutions with a step that somebody flagged or was unsure of",
            "n",
        ),
        waiting["doubt"],
        _page(member, "review", query="?reason=doubt"),
    )
    yield _concern(
        ngettext_lazy(
            "label that was sent back and waits for its annotator",
            "labels that were sent back and wait for their annotators",
            "n",
        ),
        waiting["sent_back"],
        _page(member, "review"),
    )


def _annotator_concerns(member: Membership) -> Iterator[Concern]:
    suspected = member.project.label_batches.filter(state=LabelBatch.State.SUSPECTED)
    hasty = suspected.filter(judge=LabelBatch.Judge.PACE)
    quality = _page(member, "quality", query="?state=suspected")
    yield _concern(
        ngettext_lazy("suspected batch of labels", "suspected batches of labels", "n"),
        suspected.count() - len(hasty),
        quality,
    )
    yield _concern(
        ngettext_lazy(
            "annotator who rates too fast to have read the steps: look at their labels and talk to them",
            "annotators who rate too fast to have read the steps: look at their labels and talk to them",
            "n",
        ),
        len(hasty),
        _page(member, "member", hasty[0].annotator_id) if len(hasty) == 1 else quality,
    )
    yield _concern(
        ngettext_lazy(
            "gold solution that is worn out, or that good annotators dispute",
            "gold solutions that are worn out, or that good annotators dispute",
            "n",
        ),
        to_review(member.project).count(),
        _page(member, "gold", query="?review=on"),
    )
    yield _concern(
        ngettext_lazy(
            "person whose screening failed, or whom a policy paused",
            "people whose screening failed, or whom a policy paused",
            "n",
        ),
        excluded_members(member.project).count(),
        _managers_page(member, "members"),
    )


def _label_concerns(member: Membership) -> Iterator[Concern]:
    yield _concern(
        ngettext_lazy(
            "label that gave up, or calls the problem bad", "labels that gave up, or call the problem bad", "n"
        ),
        latest_annotations(member.project).filter(finish_reason__in=GIVEN_UP).count(),
        _page(member, "labels", query="?finish_reason=give_up&finish_reason=bad_problem"),
    )


def _run_concerns(member: Membership, since: datetime) -> Iterator[Concern]:
    yield _concern(
        _("rule that holds rounds back: people agree less than the floor"),
        int(below_floor(member.project) is not None),
        _page(member, "solutions", query="?disagreement=on"),
    )
    yield _concern(
        ngettext_lazy("failed run in the last 14 days", "failed runs in the last 14 days", "n"),
        TrainingRun.objects.filter(
            project=member.project, state=TrainingRun.State.FAILED, created_at__gte=since
        ).count(),
        _page(member, "runs", query="?state=failed"),
    )


def _file_concerns(member: Membership, since: datetime) -> Iterator[Concern]:
    imports = ImportJob.objects.filter(project=member.project, created_at__gte=since)
    yield _concern(
        ngettext_lazy("failed import in the last 14 days", "failed imports in the last 14 days", "n"),
        imports.filter(state=ImportJob.State.FAILED).count(),
        _managers_page(member, "import", "?state=failed"),
    )
    yield _concern(
        ngettext_lazy("rejected import line in the last 14 days", "rejected import lines in the last 14 days", "n"),
        imports.aggregate(n=Sum("rejected"))["n"] or 0,
        _managers_page(member, "import", "?rejected=on"),
    )
    yield _concern(
        ngettext_lazy(
            "snapshot whose file was changed after it was frozen, in the last 14 days",
            "snapshots whose files were changed after they were frozen, in the last 14 days",
            "n",
        ),
        changed_snapshots(member.project, since=since),
        _managers_page(member, "export"),
    )


def _page(member: Membership, name: str, *args: object, query: str = "") -> str:
    return reverse(name, args=[member.project.slug, *args]) + query


def _managers_page(member: Membership, name: str, query: str = "") -> str:
    return _page(member, name, query=query) if member.role == Membership.Role.MANAGER else ""


def _concern(label: Promise, count: int, href: str) -> Concern:
    return Concern(label % {"n": count}, count, href)
