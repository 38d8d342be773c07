"""Explains why there is nothing for a person to label, and when to try again."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.core.statements import fetch_one
from annotation.models import Generation, Membership
from annotation.work.queue.claims import Claim
from annotation.work.queue.rules import FRESH, QUALIFIED, SEEN, Rules, free_again

# Unfinished items for everybody or for this person, that this person has never had.
OPEN = f"""FROM annotation_queueitem item
    JOIN annotation_generation generation ON generation.id = item.generation_id AND generation.state = 'open'
    WHERE item.project_id = %(project)s AND item.state IN ('ready', 'full')
      AND item.taker = %(taker)s AND (item.assigned_to_id IS NULL OR item.assigned_to_id = %(annotator)s) AND {FRESH}"""

# Among the items that this person may get: whether any is free, and when the first lease of another person expires.
# Both in one statement, in which a place is always either free or leased.
WAITING = """
SELECT COALESCE(bool_or(item.state = 'ready' AND {now}), false),
       min(lease.expires_at) FILTER (WHERE item.state = 'full')
FROM annotation_queueitem item
JOIN annotation_generation generation ON generation.id = item.generation_id AND generation.state = 'open'
LEFT JOIN annotation_lease lease
    ON lease.item_id = item.id AND lease.state = 'active' AND lease.annotator_id <> %(annotator)s
WHERE item.project_id = %(project)s AND item.state IN ('ready', 'full') AND NOT item.paused
  AND item.taker = %(taker)s AND {theirs}
"""

# For each problem in its cool-down, when the person ended its last solution; null while they have one leased.
LAST_SEEN = f"""
SELECT count(*), min(last) FROM (
    SELECT (SELECT CASE WHEN bool_or(seen.state = 'active') THEN NULL ELSE max(seen.ended_at) END {SEEN}) AS last
    {OPEN} AND item.state = 'ready' AND NOT item.paused AND {{lasting}} AND NOT ({{passing}})) AS resting
"""


def why_nothing(membership: Membership, rules: Rules) -> Claim | None:
    """The reason why this person gets nothing; None if an item has become free since the queue was searched."""
    free, back = _one(WAITING.format(now=rules.theirs_now, theirs=rules.theirs), rules)
    if free:
        return None
    resting, seen = 0, None
    if rules.passing != "TRUE":
        resting, seen = _one(LAST_SEEN.format(lasting=rules.lasting, passing=rules.passing), rules)
    rested = seen and free_again(membership, seen)
    if resting and (back is None or (rested is not None and rested <= back)):
        return Claim(
            reason="cooling_down",
            message=_("The remaining solutions belong to problems that you have just seen. You get them later."),
            retry_at=rested,
        )
    if back is not None:
        return Claim(
            reason="all_leased",
            message=_("Other annotators have the remaining solutions. You may get some when their time ends."),
            retry_at=min(filter(None, [back, rested])),
        )
    if _one(f"SELECT EXISTS (SELECT {OPEN} AND item.paused)", rules)[0]:
        return Claim(reason="paused", message=_("The remaining solutions are paused by the project’s manager."))
    if membership.domains is not None and _one(f"SELECT EXISTS (SELECT {OPEN} AND NOT {QUALIFIED})", rules)[0]:
        message = _("The remaining solutions are in domains that are not yours. The project’s manager can change that.")
        return Claim(reason="not_qualified", message=message)
    if not Generation.objects.filter(project=membership.project_id).exists():
        message = _("Solutions appear here once the project’s manager opens the first generation.")
        return Claim(reason="not_started", message=message)
    return Claim(reason="done", message=_("You are done for now. The next generation may bring more work."))


def _one(statement: str, rules: Rules) -> tuple[Any, ...]:
    row = fetch_one(statement, rules.values)
    assert row is not None
    return row
