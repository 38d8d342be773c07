"""Chooses the lane and the queue item of a person's next lease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np

from annotation.core import audit
from annotation.core.statements import fetch_all, fetch_one
from annotation.work.queue.rules import FRESH, OFFERED, Rules
from annotation.work.queue.turns import Tally, in_turn

# How many candidates are read: some of them may be locked by other claims.
SPARE, MANY = 4, 100

# Leases a place of the first candidate that is not locked. An expired lease of the same person on the same solution is
# renewed in its row.
TAKE = """
WITH candidate AS MATERIALIZED ({candidates}),
next AS (
    SELECT item.id FROM annotation_queueitem item JOIN candidate ON candidate.id = item.id
    WHERE item.state = 'ready' AND NOT item.paused AND item.taker = %(taker)s
    ORDER BY candidate.place, candidate.rank, item.id
    LIMIT 1
    FOR NO KEY UPDATE OF item {wait}
), taken AS (
    UPDATE annotation_queueitem item
    SET leased = item.leased + 1,
        state = CASE WHEN item.leased + 1 + item.done >= item.wanted THEN 'full' ELSE 'ready' END
    FROM next WHERE item.id = next.id
    RETURNING item.id, item.solution_id
){remember}, leased AS (
    INSERT INTO annotation_lease (item_id, solution_id, annotator_id, state, reason, claimed_at, expires_at)
    SELECT taken.id, taken.solution_id, %(annotator)s, 'active', '', %(now)s, %(until)s FROM taken
    ON CONFLICT (annotator_id, solution_id) DO UPDATE
    SET item_id = EXCLUDED.item_id, state = 'active', reason = '', claimed_at = EXCLUDED.claimed_at,
        expires_at = EXCLUDED.expires_at, ended_at = NULL
    RETURNING id, item_id AS item, solution_id AS solution
){audited}
SELECT id, item, solution FROM leased
"""

# First the items assigned to this person, then those they had begun, then those pinned for all.
FIRST = """
(SELECT item.id, 0 AS place, item.rank FROM annotation_queueitem item
 WHERE item.assigned_to_id = %(annotator)s AND item.state = 'ready' AND NOT item.paused
   AND item.taker = %(taker)s AND {fresh}
 ORDER BY item.rank, item.id LIMIT {spare})
UNION ALL
(SELECT item.id, 1, item.rank
 FROM annotation_lease begun JOIN annotation_queueitem item ON item.solution_id = begun.solution_id
 WHERE begun.annotator_id = %(annotator)s AND begun.state = 'expired' AND {offered} AND {lasting}
 ORDER BY item.rank, item.id LIMIT {spare})
UNION ALL
(SELECT item.id, 2, item.rank FROM annotation_queueitem item
 WHERE item.project_id = %(project)s AND item.pinned AND {offered} AND {allowed}
 ORDER BY item.rank, item.id LIMIT {spare})
"""

IN_LANE = """
(SELECT item.id, 0 AS place, item.rank FROM annotation_queueitem item
 WHERE item.generation_id = %(generation)s AND item.lane = %(lane)s AND item.reopened AND {offered} AND {allowed}
 ORDER BY item.rank, item.id LIMIT {spare})
UNION ALL
(SELECT item.id, 0, item.rank FROM annotation_queueitem item
 WHERE item.generation_id = %(generation)s AND item.lane = %(lane)s AND item.rank >= %(frontier)s
   AND {offered} AND {allowed}
 ORDER BY item.rank, item.id LIMIT {spare})
"""

ANYWHERE = """
SELECT item.id, 0 AS place, item.rank FROM annotation_queueitem item
WHERE item.generation_id = (
    SELECT id FROM annotation_generation WHERE project_id = %(project)s AND state = 'open')
  AND item.state = 'ready' AND NOT item.paused AND item.taker = %(taker)s AND {lasting} AND {allowed}
ORDER BY item.rank, item.id LIMIT {many}
"""

# Moves the frontier up to the first item that this person can still get, now or later.
REMEMBER = """, remembered AS (
    INSERT INTO annotation_frontier (annotator_id, generation_id, lane, rank)
    (SELECT %(annotator)s, %(generation)s, %(lane)s, item.rank FROM annotation_queueitem item
     WHERE item.generation_id = %(generation)s AND item.lane = %(lane)s AND item.rank >= %(frontier)s
       AND {offered} AND {lasting}
     ORDER BY item.rank, item.id LIMIT 1)
    ON CONFLICT (annotator_id, generation_id, lane) DO UPDATE SET rank = EXCLUDED.rank
    WHERE annotation_frontier.rank < EXCLUDED.rank
)"""

# These locks are held until the claim is committed, so that each claim of a generation sees the places that earlier
# ones took. No claim waits for an item while it holds them.
TALLIES = """
SELECT tally.generation_id, tally.lane, tally.wanted, tally.taken, COALESCE((
    SELECT frontier.rank FROM annotation_frontier frontier
    WHERE frontier.annotator_id = %(annotator)s AND frontier.generation_id = tally.generation_id
      AND frontier.lane = tally.lane), 0) AS frontier
FROM annotation_lanetally tally JOIN annotation_generation generation ON generation.id = tally.generation_id {after}
WHERE generation.project_id = %(project)s AND generation.state = 'open' AND tally.taker = %(taker)s {only}
ORDER BY tally.lane
FOR NO KEY UPDATE OF tally
"""
LANE = 5  # columns of TALLIES
AUDIT = f", audited AS ({audit.insertion('leased', 'item', 'solution')})"

# Whether FIRST may find an item; it may not, if others have it or the person may not have it.
MAY_COME_FIRST = f"""(
    EXISTS (
        SELECT FROM annotation_queueitem WHERE assigned_to_id = %(annotator)s AND state = 'ready' AND NOT paused)
    OR EXISTS (SELECT FROM annotation_lease WHERE annotator_id = %(annotator)s AND state = 'expired')
    OR EXISTS (
        SELECT FROM annotation_queueitem item WHERE item.project_id = %(project)s AND item.pinned AND {OFFERED}))"""


_RNG = np.random.default_rng()


@dataclass(frozen=True)
class Taken:
    """A lease that was just created or renewed, with its item and solution."""

    lease: int
    item: int
    solution: int


def take(
    rules: Rules,
    *,
    first: bool,
    lanes: Sequence[Sequence[Any]] | None,
    audited: Mapping[str, Any] | None,
    now: datetime,
    until: datetime,
) -> Taken | None:
    """Lease the next item of the lane whose turn it is; `first`, one that comes before all lanes.

    The caller has locked the membership, and then read by MAY_COME_FIRST whether there may be such an item. `lanes` are
    the rows of TALLIES, if the caller has locked them. `audited` is an audit entry to store with the lease, if any.

    None if a quick search finds nothing; then use `take_thoroughly`.
    """
    values = _values(rules, audited, now, until)
    if first and (taken := _take(FIRST, rules, values, audits=audited is not None)):
        return taken
    if lanes is None:
        lanes = fetch_all(TALLIES.format(after="", only=""), values)
    frontiers = {lane: (generation, frontier) for generation, lane, _, _, frontier in lanes}
    tallies = {lane: Tally(wanted, taken) for _, lane, wanted, taken, _ in lanes}
    for lane in in_turn(tallies, _RNG):
        generation, frontier = frontiers[lane]
        where = {"generation": generation, "lane": lane, "frontier": frontier}
        if taken := _take(IN_LANE, rules, {**values, **where}, remember=REMEMBER, audits=audited is not None):
            return taken
    return None


def take_thoroughly(rules: Rules, *, audited: Mapping[str, Any] | None, now: datetime, until: datetime) -> Taken | None:
    """Lease any item that the person may have, searching the whole queue and waiting for rows that others lock."""
    anywhere = statement(ANYWHERE, rules.theirs, rules.theirs_now, wait="", audits=audited is not None)
    row = fetch_one(anywhere, _values(rules, audited, now, until))
    return Taken(*row) if row else None


def _values(rules: Rules, audited: Mapping[str, Any] | None, now: datetime, until: datetime) -> dict[str, Any]:
    return {**(audited or {}), **rules.values, "now": now, "until": until}


def _take(
    candidates: str, rules: Rules, values: Mapping[str, Any], *, audits: bool, remember: str = ""
) -> Taken | None:
    row = fetch_one(statement(candidates, rules.lasting, rules.all, remember=remember, audits=audits), values)
    return Taken(*row) if row else None


@lru_cache(maxsize=64)
def statement(
    candidates: str, lasting: str, allowed: str, *, remember: str = "", wait: str = "SKIP LOCKED", audits: bool = False
) -> str:
    """The statement TAKE for a way to find candidates, with the conditions that items meet ever, and those for now."""
    parts = {"offered": OFFERED, "fresh": FRESH, "lasting": lasting, "allowed": allowed, "spare": SPARE, "many": MANY}
    return TAKE.format(
        candidates=candidates.format(**parts),
        remember=remember.format(**parts),
        audited=AUDIT if audits else "",
        wait=wait,
    )
