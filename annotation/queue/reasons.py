"""Why there is nothing for a person to label, and when it is worth asking again. Only what is true is said."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils.translation import gettext as _

from annotation.models import Membership
from annotation.queue.rules import FRESH, QUALIFIED, SEEN, Rules, free_again


@dataclass(frozen=True)
class Nothing:
    """A reason as in `Claim`, in words for the annotator; `retry_at` is when there may be work, if known."""

    reason: str
    message: str
    retry_at: datetime | None = None


# What is in the queue for everybody or for this person, with a place free or in hand, and was never theirs.
OPEN = f"""FROM annotation_queueitem item
    JOIN annotation_generation generation ON generation.id = item.generation_id AND generation.state = 'open'
    WHERE item.project_id = %(project)s AND item.state IN ('ready', 'full')
      AND (item.assigned_to_id IS NULL OR item.assigned_to_id = %(annotator)s) AND {FRESH}"""

FIRST_BACK = """
SELECT min(lease.expires_at) FROM annotation_lease lease JOIN annotation_queueitem item ON item.id = lease.item_id
JOIN annotation_generation generation ON generation.id = item.generation_id AND generation.state = 'open'
WHERE lease.state = 'active' AND lease.annotator_id <> %(annotator)s AND item.project_id = %(project)s
  AND item.state = 'full' AND NOT item.paused
  AND (item.assigned_to_id IS NULL OR item.assigned_to_id = %(annotator)s) AND {lasting}
"""

# For each problem that has not rested, when the person ended its last solution; null while they have one in hand.
LAST_SEEN = f"""
SELECT count(*), min(last) FROM (
    SELECT (SELECT CASE WHEN bool_or(seen.state = 'active') THEN NULL ELSE max(seen.ended_at) END {SEEN}) AS last
    {OPEN} AND item.state = 'ready' AND NOT item.paused AND {{lasting}} AND NOT ({{passing}})) AS resting
"""


def why_nothing(membership: Membership, rules: Rules) -> Nothing:
    """Why this person was given nothing, where all of the queue was looked at."""
    back = _one(FIRST_BACK.format(lasting=rules.lasting), rules)[0]
    resting, seen = 0, None
    if rules.passing != "TRUE":
        resting, seen = _one(LAST_SEEN.format(lasting=rules.lasting, passing=rules.passing), rules)
    rested = seen and free_again(membership, seen)
    if resting and (back is None or (rested is not None and rested <= back)):
        return Nothing(
            "cooling_down",
            _("What is left are further solutions of problems that you have just seen. They come to you later."),
            rested,
        )
    if back is not None:
        return Nothing(
            "all_leased",
            _("All that is left is in other people’s hands; it may come back to you when their time is over."),
            min(filter(None, [back, rested])),
        )
    if _one(f"SELECT EXISTS (SELECT {OPEN} AND item.paused)", rules)[0]:
        return Nothing("paused", _("What is left is paused: the project’s manager will open it again."))
    if membership.domains is not None and _one(f"SELECT EXISTS (SELECT {OPEN} AND NOT {QUALIFIED})", rules)[0]:
        return Nothing(
            "not_qualified",
            _("What is left is from fields that you are not asked about. The project’s manager can change that."),
        )
    return Nothing("done", _("You are done: nothing is waiting for you in this project."))


def _one(statement: str, rules: Rules) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement, rules.given)
        row: tuple[Any, ...] = cursor.fetchone()
        return row
