"""Disputes, claims that a reference is wrong, and the decision on each."""

from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.consensus.dispute_decision import resolve
from annotation.models import Dispute, Membership
from labelling_ui.pages.access import STAFF, attempt, posted_word, project_action, project_page
from labelling_ui.pages.columns import Column, Opening, State, When
from labelling_ui.pages.listing import Filters, Listing, respond

COLUMNS = [
    When("opened", _("Opened"), "created_at", sort=True),
    Opening("problem", _("Problem"), "annotation__solution__problem__text"),
    Column("reference", _("Reference"), "annotation__solution__problem__reference_answer"),
    Column("comment", _("Comment"), "annotation__comment"),
    State("state", _("State"), sort=True, choices=Dispute.State.choices, filtered=True),
    Column("resolution", _("Reason")),
]


@project_page(*STAFF)
def disputes(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.disputes.select_related(
        "annotation__solution__problem", "annotation__annotator__user", "resolved_by__user"
    )
    same = Dispute.objects.filter(annotation__solution__problem=OuterRef("annotation__solution__problem"))
    rows = rows.annotate(on_problem=Subquery(same.order_by().values("project").annotate(n=Count("pk")).values("n")))
    listing = Listing(request, rows, COLUMNS, sort="-opened", filters=Filters(request.GET, COLUMNS))
    return respond(request, "labelling_ui/disputes.html", listing, "disputes")


@project_action(*STAFF)
def decide(request: HttpRequest, member: Membership, dispute_id: int) -> HttpResponseBase:
    dispute = get_object_or_404(member.project.disputes, pk=dispute_id)
    attempt(
        request,
        gettext("Your decision is recorded."),
        resolve,
        dispute=dispute,
        upheld=posted_word(request, "decision", "uphold", "dismiss") == "uphold",
        resolution=request.POST.get("resolution", ""),
        reference=request.POST.get("reference", ""),
    )
    if request.POST.get("from") == "review":
        return redirect("review-case", member.project.slug, dispute.annotation.solution_id)
    return redirect("disputes", member.project.slug)
