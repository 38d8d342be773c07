"""The rounds of the loop: what each asked for, and how much of it is labelled."""

from django import forms
from django.db.models import QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.loop.selection.generations import request_first_generation
from annotation.models import Lane, Membership, QueueItem
from labelling_ui import words
from labelling_ui.charts import Point, Series, bar_chart
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.listing import Column, Filters, Listing, respond
from labelling_ui.selectors import generation_progress as selectors

COLUMNS = [
    Column("generation", gettext_lazy("Generation"), lambda g: g.number, sort="number"),
    Column("state", gettext_lazy("State"), lambda g: g.state, sort="state"),
    Column("opened", gettext_lazy("Opened"), lambda g: g.created_at.isoformat(), sort="created_at"),
    Column("ranked_by", gettext_lazy("Ranked by"), lambda g: g.model_version and g.model_version.number),
    Column("acquisition", gettext_lazy("Acquisition"), lambda g: g.acquisition, sort="acquisition"),
    Column("lanes", gettext_lazy("Lanes"), lambda g: ", ".join(f"{k} {v}" for k, v in g.mix.items() if v)),
    Column("chosen_from", gettext_lazy("Chosen from"), lambda g: g.pool_size, sort="pool_size", number=True),
    Column("wanted", gettext_lazy("Wanted"), lambda g: g.wanted or 0, sort="wanted", number=True),
    Column("done", gettext_lazy("Done"), lambda g: g.done or 0, sort="done", number=True),
]


@project_page(*STAFF)
def generations(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.generations.select_related("model_version", "run").annotate(
        wanted=Sum("items__wanted"), done=Sum("items__done")
    )
    listing = Listing(request, rows, COLUMNS, sort="-generation")
    context = {"member": member, "solutions": member.project.solutions.count()}
    return respond(request, "labelling_ui/generations.html", listing, f"{member.project.slug}-generations", context)


class ItemFilters(Filters):
    lane = forms.ChoiceField(choices=[words.ALL, *Lane.choices], required=False, label=gettext_lazy("Lane"))
    state = forms.ChoiceField(
        choices=[words.ALL, *QueueItem.State.choices], required=False, label=gettext_lazy("State")
    )

    def narrow(self, rows: QuerySet[QueueItem]) -> QuerySet[QueueItem]:
        return rows.filter(**self.chosen())


ITEMS = [
    Column("rank", gettext_lazy("Place"), lambda i: i.rank, sort="rank", number=True),
    Column("solution", gettext_lazy("Solution"), lambda i: i.solution_id, sort="solution"),
    Column("domain", gettext_lazy("Domain"), lambda i: i.solution.problem.domain, sort="solution__problem__domain"),
    Column("lane", gettext_lazy("Lane"), lambda i: i.lane, sort="lane"),
    Column("state", gettext_lazy("State"), lambda i: i.state, sort="state"),
    Column("gain", gettext_lazy("Gain"), lambda i: i.gain, sort="gain", number=True),
    Column("seconds", gettext_lazy("Cost"), lambda i: i.expected_seconds, sort="expected_seconds", number=True),
    Column(
        "inclusion_probability",
        gettext_lazy("Chance"),
        lambda i: i.inclusion_probability,
        sort="inclusion_probability",
        number=True,
    ),
    Column("done", gettext_lazy("Done"), lambda i: i.done, sort="done", number=True),
    Column("wanted", gettext_lazy("Wanted"), lambda i: i.wanted, sort="wanted", number=True),
]


@project_page(*STAFF)
def generation(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    """One of them: how its lanes were drawn, how far they are, and every item with its gain, cost and chance."""
    found = member.project.generations.select_related("model_version", "run").filter(number=number).first()
    if found is None:
        raise Http404("There is no such generation.")
    items = found.items.select_related("solution__problem")
    listing = Listing(request, items, ITEMS, sort="rank", filters=ItemFilters(request.GET))
    points = [Point(chance, count) for chance, count in selectors.chances(found)]
    context = {
        "member": member,
        "tab": "generations",
        "generation": found,
        "lanes": selectors.lanes_of(found),
        "settings": selectors.settings_of(found),
        "chart": bar_chart(
            _("Chance of being drawn"), Series(_("items"), "first", points), places=_("chance"), least_step=1
        ),
    }
    name = f"{member.project.slug}-generation-{number}"
    return respond(request, "labelling_ui/generation.html", listing, name, context)


@require_POST
@project_page(MANAGER)
def open_first(request: HttpRequest, member: Membership) -> HttpResponseBase:
    done = _("The first generation is open: people can start labelling.")
    if member.project.policies.cold_start != "random":
        done = _("The backbone reads the pool; the first generation opens when that is done.")
    attempt(request, done, request_first_generation, project=member.project)
    return redirect("generations", member.project.slug)
