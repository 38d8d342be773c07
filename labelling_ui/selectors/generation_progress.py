"""One generation: how each lane was drawn, its progress, and its items' inclusion probabilities."""

from bisect import bisect_left
from collections import Counter
from itertools import pairwise
from typing import Any

from django.db.models import Avg, Count, Max, Min, Sum
from django.utils.translation import gettext as _

from annotation.core.wording import in_words, message_of
from annotation.models import Generation, Lane, QueueItem
from labelling_ui.numbers import decimal, short

EDGES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]


def lanes_of(generation: Generation) -> list[dict[str, Any]]:
    """The lanes that have items, the largest first, with how each was drawn, as far as that is recorded."""
    recipe: dict[str, Any] = generation.recipe.get("lanes", {})
    lanes = list(
        QueueItem.objects.filter(generation=generation)
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
    return [{**recipe.get(lane["lane"], {}), **lane, "share": lane["items"] / total} for lane in lanes]


def chances(generation: Generation) -> list[tuple[str, int]]:
    """The number of items by inclusion probability, between EDGES; empty if none is recorded."""
    known = QueueItem.objects.filter(generation=generation, inclusion_probability__isnull=False)
    bins = Counter(bisect_left(EDGES, p - 1e-9) for p in known.values_list("inclusion_probability", flat=True) if p)
    if not bins:
        return []
    names = [f"≤ {short(100 * EDGES[0])} %"]
    names += [f"{short(100 * low)}–{short(100 * high)} %" for low, high in pairwise(EDGES)]
    return [(names[place], bins[place]) for place in range(min(bins), len(EDGES))]


def settings_of(generation: Generation) -> list[tuple[str, str]]:
    """What the acquisition lane was ranked by: its caps, the cost it reckoned with, what it had to do without."""
    notes: dict[str, Any] = generation.recipe.get("lanes", {}).get(Lane.ACQUISITION, {})
    settings = []
    if "of_a_problem" in notes:
        settings.append((_("most of a problem"), str(notes["of_a_problem"])))
    if notes.get("of_a_domain"):
        settings.append((_("most of a domain"), f"{notes['of_a_domain']:.0%}"))
    if "cost" in notes:
        cost = notes["cost"]
        costs = {"fixed": cost["fixed"], "step": cost["per_step"], "char": cost["per_char"] * 100}
        figures = {name: decimal(seconds, 1) for name, seconds in costs.items()}
        words = _("%(fixed)s s, %(step)s s a step, %(char)s s a hundred characters")
        settings.append((_("cost of a label"), words % figures))
    if notes.get("without_outcome"):
        settings.append((_("without a graded answer"), decimal(notes["without_outcome"])))
    if "read" in notes:
        words = _("%(n)s solutions by “%(backbone)s”, with no labels")
        settings.append((_("read"), words % {"n": decimal(notes["read"]), "backbone": notes["backbone"]}))
    if "note" in generation.recipe:
        note = message_of(generation.recipe, "note")
        settings.append((_("ranked at random because"), in_words(note)))
    return settings
