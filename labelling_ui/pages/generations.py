"""Generations: which solutions each selected, and how many of them are labelled."""

from functools import partial
from itertools import pairwise
from typing import Any

from django.db.models import Avg, Case, Count, Max, Min, Sum
from django.db.models import When as Where
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.loop.selection.generations import request_first_generation
from annotation.models import Generation, Lane, Membership, QueueItem
from labelling_ui.charts import Point, Series, bar_chart
from labelling_ui.numbers import decimal, short
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Number, Share, State, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.selectors.progress import drawn_items, generations_with_places
from labelling_ui.templatetags.figures import acquisition_in_words, percent

EDGES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]  # of the columns of inclusion probabilities
COLUMNS = [
    Column("generation", _("Generation"), "number", sort=True, link="generation", heading=True, term="generation"),
    State("state", _("State"), sort=True, choices=Generation.State.choices),
    When("opened", _("Opened"), "created_at", sort=True),
    Column("ranked_by", _("Ranked by"), "model_version__number"),
    Column("acquisition", _("Acquisition"), sort=True, write=acquisition_in_words, term="acquisition"),
    Column("lanes", _("Lanes"), lambda g: ", ".join(f"{k} {v}" for k, v in g.mix.items() if v), term="lane"),
    Number("chosen_from", _("Pool size"), "pool_size", sort=True, term="pool"),
    Number("wanted", _("Wanted"), sort=True),
    Number("done", _("Done"), sort=True),
]


@project_page(*STAFF)
def generations(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = generations_with_places(member.project).select_related("model_version", "run")
    listing = Listing(request, rows, COLUMNS, sort="-generation")
    context = {"solutions": member.project.solutions.exists()}
    return respond(request, "labelling_ui/generations.html", listing, "generations", context)


ITEMS = [
    Number("rank", _("Rank"), sort=True, heading=True, write=str),
    Column("solution", _("Solution"), "solution_id", sort="solution", link="solution"),
    Column("domain", _("Domain"), "solution__problem__domain", sort=True),
    Choice("lane", _("Lane"), sort=True, choices=Lane.choices, filtered=True, term="lane"),
    Choice("state", _("State"), sort=True, choices=QueueItem.State.choices, filtered=True),
    Number("gain", _("Gain"), sort=True, write=partial(decimal, digits=3), term="gain"),
    Duration(
        "seconds", _("Cost"), "expected_seconds", sort=True, help=_("The expected labelling time of this solution.")
    ),
    Share(
        "inclusion_probability",
        _("Inclusion probability"),
        sort=True,
        write=partial(percent, digits=2),
        term="inclusion_probability",
    ),
    Number("done", _("Done"), sort=True),
    Number("wanted", _("Wanted"), sort=True),
]
LANES = [
    Choice("lane", _("Lane"), heading=True, choices=Lane.choices, term="lane"),
    Number("items", _("Items")),
    Share("share", _("Share"), help=_("The lane’s share of this generation.")),
    Column("drawn", _("Drawn"), "recipe__how"),
    Share("chance", _("Inclusion probability"), "most", write=partial(percent, digits=2), term="inclusion_probability"),
    Number("gain", _("Mean gain"), "mean_gain", write=partial(decimal, digits=3), term="gain"),
    Duration("seconds", _("Mean cost"), "mean_seconds", help=_("The expected labelling time of one item, on average.")),
    Column("labelled", _("Labelled"), "labels_done"),
]


@project_page(*STAFF)
def generation(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    """One generation: how its lanes were drawn, their progress, and every item with its inclusion probability."""
    generation = get_object_or_404(member.project.generations.select_related("model_version", "run"), number=number)
    items = generation.items.select_related("solution__problem")
    listing = Listing(request, items, ITEMS, sort="rank", filters=Filters(request.GET, ITEMS))
    points = [Point(chance, count) for chance, count in chances(generation)]
    context = {
        "generation": generation,
        "lanes": Table(lanes_of(generation), LANES),
        "settings": settings_of(generation),
        "chart": bar_chart(
            gettext("Inclusion probability"),
            Series(gettext("items"), "first", points),
            help=gettext(
                "How many items had which probability of being drawn; equal probabilities mean a random draw."
            ),
            term="inclusion_probability",
            places=gettext("inclusion probability"),
        ),
    }
    return respond(request, "labelling_ui/generation.html", listing, f"generation-{number}", context)


@project_action(MANAGER)
def open_first(request: HttpRequest, member: Membership) -> HttpResponseBase:
    done = gettext("The first generation is open. People can start labelling.")
    if member.project.policies.cold_start != "random":
        done = gettext("The backbone is reading the pool. The first generation opens when it finishes.")
    opened = attempt(request, done, request_first_generation, project=member.project)
    return redirect("workbench" if opened and "then" in request.POST else "generations", member.project.slug)


def lanes_of(generation: Generation) -> list[dict[str, Any]]:
    """The lanes that were drawn, largest first, with the recorded way in which each was."""
    recipes = generation.recipe.lanes
    lanes = list(
        drawn_items()
        .filter(generation=generation)
        .values("lane")
        .annotate(
            items=Count("pk"),
            labels_done=Sum("done"),
            labels_wanted=Sum("wanted"),
            least=Min("inclusion_probability"),
            most=Max("inclusion_probability"),
            mean_gain=Avg("gain"),
            mean_seconds=Avg("expected_seconds"),
        )
        .order_by("-items", "lane")
    )
    total = sum(lane["items"] for lane in lanes)
    return [{**lane, "recipe": recipes.get(lane["lane"]), "share": lane["items"] / total} for lane in lanes]


def chances(generation: Generation) -> list[tuple[str, int]]:
    """The number of items by inclusion probability, between EDGES; empty if none is recorded."""
    known = QueueItem.objects.filter(generation=generation, inclusion_probability__isnull=False)
    # In the database: a generation can have as many items as the pool.
    bin_of = Case(*[Where(inclusion_probability__lte=edge + 1e-9, then=n) for n, edge in enumerate(EDGES)])
    bins: dict[int, int] = dict(known.order_by().values_list(bin_of).annotate(n=Count("pk")))
    if not bins:
        return []
    names = [f"≤ {short(100 * EDGES[0])}\N{NO-BREAK SPACE}%"]
    names += [f"{short(100 * low)}–{short(100 * high)}\N{NO-BREAK SPACE}%" for low, high in pairwise(EDGES)]
    return [(names[place], bins.get(place, 0)) for place in range(min(bins), len(EDGES))]


def settings_of(generation: Generation) -> list[tuple[str, str]]:
    """The settings by which the acquisition lane was ranked: caps, cost model, missing outcomes, misleading grades."""
    recipe = generation.recipe.lanes.get(Lane.ACQUISITION)
    settings = []
    if recipe and recipe.max_per_problem is not None:
        settings.append((gettext("limit per problem"), str(recipe.max_per_problem)))
    if recipe and recipe.max_domain_share:
        settings.append((gettext("limit per domain"), percent(recipe.max_domain_share)))
    if recipe and recipe.cost:
        cost = recipe.cost
        costs = {"fixed": cost.fixed_seconds, "step": cost.seconds_per_step, "char": cost.seconds_per_char * 100}
        figures = {name: decimal(seconds, 1) for name, seconds in costs.items()}
        words = gettext("%(fixed)s s, plus %(step)s s per step and %(char)s s per 100 characters")
        settings.append((gettext("cost of a label"), words % figures))
    if recipe and recipe.without_outcome:
        settings.append((gettext("without a graded answer"), decimal(recipe.without_outcome)))
    if recipe and recipe.noise:
        settings.append((gettext("right answers despite an error"), percent(recipe.noise.right_despite_error, 1)))
        settings.append((gettext("wrong answers without an error"), percent(recipe.noise.wrong_without_error, 1)))
    if recipe and recipe.read is not None:
        words = gettext("%(n)s solutions by “%(backbone)s”, without labels")
        settings.append((gettext("read"), words % {"n": decimal(recipe.read), "backbone": recipe.backbone}))
    if generation.recipe.note:
        settings.append((gettext("ranked at random because"), in_words(generation.recipe.note)))
    return settings
