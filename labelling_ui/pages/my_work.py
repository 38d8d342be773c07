"""A person's own work in a project: labels, time, agreement with others, and labels sent back."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from annotation.labels.annotators.own_work import DAYS, LEAST, OwnFigures, own_work
from annotation.models import Dispute, Membership, SentBack
from annotation.work.practice.answering import practice_set
from annotation.work.practice.screening_progress import screening_of
from labelling_ui.charts import Chart, Point, Series, bar_chart
from labelling_ui.numbers import day_of_month
from labelling_ui.pages.access import ANYONE, project_page
from labelling_ui.templatetags.figures import duration

TAKEN = 20  # disputes and labels that came back, the latest of each


@project_page(*ANYONE)
def my_work(request: HttpRequest, member: Membership) -> HttpResponse:
    mine = own_work(member)
    policy = member.project.policies
    practice = practice_set(member)
    context = {
        "mine": mine,
        "least": LEAST,
        "feedback": policy.feedback,
        "hidden_gold": bool(policy.gold.share),
        "chart": _by_day(mine),
        "practised": sum(place.outcome is not None for place in practice),
        "practice": len(practice),
        "screening": screening_of(member),
        "disputes": _disputes(member),
        **_sent_back(member),
    }
    return render(request, "labelling_ui/my_work.html", context)


def _by_day(mine: OwnFigures) -> Chart:
    points = [
        Point(day_of_month(one.day), one.labels, note=_("labels, %(time)s") % {"time": duration(one.seconds)})
        for one in mine.days
    ]
    title = _("Your labels by day, last %(n)s days") % {"n": DAYS}
    return bar_chart(
        title,
        Series(_("labels"), "first", points),
        help=_("The labels you submitted each day, and the time you spent on them."),
        places=_("day"),
    )


def _sent_back(member: Membership) -> dict[str, list[SentBack]]:
    """The person's labels that were sent back: open ones, and those revised since."""
    own = SentBack.objects.filter(project=member.project, annotation__annotator=member.pk)
    own = own.select_related("annotation__solution__problem", "by")
    return {
        "sent_back": list(own.filter(state=SentBack.State.OPEN).order_by("pk")),
        "answered": list(own.filter(state=SentBack.State.ANSWERED).order_by("-pk")[:TAKEN]),
    }


def _disputes(member: Membership) -> list[Dispute]:
    """The person's disputes and the decisions on them."""
    own = Dispute.objects.filter(annotation__annotator=member.pk).exclude(state=Dispute.State.WITHDRAWN)
    return list(own.select_related("annotation__solution__problem").order_by("-pk")[:TAKEN])
