"""The rounds of the loop: what each asked for, and how much of it is labelled."""

from django.db.models import Sum
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.models import Membership
from annotation.rounds.generations import open_first_generation
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.listing import Column, Listing, respond

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


@require_POST
@project_page(MANAGER)
def open_first(request: HttpRequest, member: Membership) -> HttpResponseBase:
    attempt(
        request,
        _("The first generation is open: people can start labelling."),
        open_first_generation,
        project=member.project,
    )
    return redirect("generations", member.project.slug)
