"""The queue: items, their leases, and a manager's actions on them."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.members import domains_of
from annotation.models import OPEN, TURN, HandOver, Lane, Lease, Membership, Project, QueueItem, Route, Taker
from annotation.work.queue import managing
from labelling_ui import words
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page, whole_number
from labelling_ui.pages.columns import Choice, Column, Control, Number
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.pages.people import PersonField, everyone_in, people_of

HELD = "held"
MARKS = [
    words.ALL,
    ("pinned", _("pinned")),
    ("paused", _("paused")),
    ("assigned", _("assigned")),
    (HELD, _("claimed")),
]

MARKED: dict[str, dict[str, Any]] = {
    "pinned": {"pinned": True},
    "paused": {"paused": True},
    "assigned": {"assigned_to__isnull": False},
    HELD: {"leased__gt": 0},
}


class QueueFilters(Filters):
    mark = forms.ChoiceField(choices=MARKS, label=_("State"))
    domain = forms.CharField(label=_("Domain"))
    person = PersonField(Membership.objects.none(), empty_label=_("all"), label=_("Person"))

    own = ("person",)
    lookups = {
        "mark": lambda rows, mark: rows.filter(**MARKED[mark]),
        "domain": "solution__problem__domain",
    }
    field_order = ("lane",)

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.chosen()
        if "person" in chosen:
            theirs = Lease.objects.filter(annotator=chosen["person"], state=Lease.State.ACTIVE)
            # Read before: for a subquery the database would compare every item.
            claimed = list(theirs.values_list("item", flat=True))
            rows = rows.filter(Q(assigned_to=chosen["person"]) | Q(pk__in=claimed))
        return super().narrow(rows)


def _marks(item: Any) -> list[str]:
    marks = {"pinned": item.pinned, "paused": item.paused}
    for_whom = [f"for {item.assigned_to.shown_name}"] if item.assigned_to else []
    return [name for name, holds in marks.items() if holds] + for_whom


COLUMNS = [
    Number("place", _("Rank"), "rank", sort="turn", write=str),
    Column("solution", _("Solution"), "solution_id", sort="solution", link="solution", heading=True),
    Column("domain", _("Domain"), "solution__problem__domain", sort=True),
    Choice("lane", _("Lane"), sort=True, choices=Lane.choices, filtered=True, term="lane"),
    Choice("route", _("Route"), sort=True, choices=Route.choices, filtered=True, term="route"),
    Choice("taker", _("Waits for"), sort=True, choices=Taker.choices, filtered=True),
    Choice("handed_over", _("Handed over"), sort=True, choices=HandOver.choices, filtered=True),
    Number("generation", _("Generation"), "generation__number", sort=True, write=str, term="generation"),
    Column("marks", _("Marks"), lambda i: " ".join(_marks(i))),
    Column("held_by", _("Claimed by"), lambda i: ", ".join(h.annotator.shown_name for h in i.held)),
    Number("done", _("Done"), sort=True),
    Number("wanted", _("Wanted"), sort=True),
]


@project_page(*STAFF)
def queue(request: HttpRequest, member: Membership) -> HttpResponseBase:
    held = Lease.objects.filter(state=Lease.State.ACTIVE).select_related("annotator__user").order_by("expires_at")
    rows = (
        member.project.queue_items.filter(OPEN)
        .select_related("solution__problem", "generation", "assigned_to__user")
        .prefetch_related(Prefetch("leases", held, to_attr="held"))
        .annotate(turn=TURN)
    )
    filters = QueueFilters(request.GET, COLUMNS, person=everyone_in(member.project).filter(active=True))
    manages = member.role == MANAGER
    columns = [Control("ticked", _("Select")), *COLUMNS] if manages else COLUMNS
    values = {"solution__problem__domain": partial(domains_of, member.project)}
    listing = Listing(request, rows, columns, sort="place", filters=filters, values=values)
    waiting = rows.filter(taker=Taker.MACHINE, state=QueueItem.State.READY, leased=0).count()
    context = {"people": people_of(member.project), "manages": manages, "waiting_for_machines": waiting}
    return respond(request, "labelling_ui/queue.html", listing, "queue", context)


@project_action(MANAGER)
def change(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Apply one change to the ticked items."""
    ticked = [pk for item in request.POST.getlist("item") if (pk := whole_number(item)) is not None]
    if not ticked:
        messages.error(request, gettext("Select at least one item."))
    else:
        changed = attempt(
            request,
            "",
            managing.change_items,
            project=member.project,
            change=request.POST.get("change", ""),
            items=ticked,
            to=_person(request, member.project),
        )
        if changed is not None:
            message = ngettext("%(n)d item was changed.", "%(n)d items were changed.", changed)
            messages.success(request, message % {"n": changed})
    response = redirect("queue", member.project.slug)
    response["Location"] += f"?{request.GET.urlencode()}" if request.GET else ""
    return response


@project_action(MANAGER)
def hand_over(request: HttpRequest, member: Membership) -> HttpResponseBase:
    """Hand all items that wait for a machine to people."""
    handed = attempt(request, "", managing.hand_over_waiting, project=member.project)
    if handed is not None:
        message = ngettext("%(n)d item now waits for a person.", "%(n)d items now wait for people.", handed)
        messages.success(request, message % {"n": handed})
    return redirect("queue", member.project.slug)


@project_action(MANAGER)
def add(request: HttpRequest, member: Membership, solution_id: int) -> HttpResponseBase:
    """Pin a solution to the front of the queue."""
    solution = get_object_or_404(member.project.solutions, pk=solution_id)
    attempt(
        request,
        gettext("The solution is at the front of the queue."),
        managing.queue_solution,
        project=member.project,
        solution=solution,
        to=_person(request, member.project),
    )
    return redirect("solution", member.project.slug, solution_id)


def _person(request: HttpRequest, project: Project) -> Membership | None:
    return people_of(project).filter(pk=whole_number(request.POST.get("to")) or 0).first()
