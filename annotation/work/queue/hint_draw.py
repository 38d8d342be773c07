"""Draws, at a claim, whether the person sees the model's scores of the solution, and stores the draw."""

from datetime import datetime

from django.utils.crypto import salted_hmac

from annotation.core.statements import fetch_one
from annotation.models import Membership
from annotation.work.queue.item_choice import Taken

# Both arms have a row, if a hint was possible. A draw survives renewals of the lease. Work that began before hints were
# enabled gets none. The verdict is `prm.threshold.Threshold.first_error`.
DRAW = """
INSERT INTO annotation_hint (lease_id, model_version_id, scores, verdict, share, reveal, shown, seen, drawn_at)
SELECT %(lease)s, version.id, score.mean,
    CASE WHEN array_position(score.mean, NULL) IS NULL THEN COALESCE((
        SELECT min(step.place) - 1 FROM unnest(score.mean) WITH ORDINALITY AS step(good, place)
        WHERE step.good < threshold.value / (threshold.value + (1 - threshold.value) * threshold.times)), -1) END,
    %(share)s, %(reveal)s, %(shown)s, '[]', %(now)s
FROM annotation_queueitem item
JOIN annotation_modelversion version ON version.project_id = item.project_id AND version.state = 'champion'
JOIN annotation_poolscore score ON score.model_version_id = version.id AND score.solution_id = item.solution_id
CROSS JOIN LATERAL (SELECT
    (version.manifest #>> '{threshold,value}')::float AS value,
    greatest(1, cardinality(score.mean) / (version.manifest #>> '{threshold,steps}')::float) AS times
) AS threshold
WHERE item.id = %(item)s AND item.lane = ANY(%(lanes)s::text[]) AND score.score IS NOT NULL
    AND NOT EXISTS (SELECT FROM annotation_draft WHERE lease_id = %(lease)s)
ON CONFLICT (lease_id) DO NOTHING
RETURNING shown
"""


def draw(membership: Membership, taken: Taken, *, now: datetime) -> bool | None:
    """Decide at random, for this person and this solution, between a hint (True) and the blind arm (False).

    None, and no hint, if a draw exists already or none is made: the policy has no hint here, the solution has no stored
    champion score, or the person may not get hints. The caller has locked the membership.
    """
    if not may_get_hint(membership):
        return None
    policy = membership.project.policies.hints
    row = fetch_one(
        DRAW,
        {
            "lease": taken.lease,
            "item": taken.item,
            "lanes": policy.lanes,
            "share": policy.share,
            "reveal": policy.reveal,
            "shown": lot(membership, taken.solution) < policy.share,
            "now": now,
        },
    )
    return None if row is None else bool(row[0])


def may_get_hint(membership: Membership) -> bool:
    """Whether this person may get hints; not if people choose the path (scores are of the sampled steps)."""
    policy = membership.project.policies.hints
    return bool(
        policy.share
        and membership.kind != Membership.Kind.MACHINE
        and membership.role in policy.roles
        and not membership.project.label_scheme.choose_path
    )


def lot(membership: Membership, solution: int) -> float:
    """A number in [0, 1), uniform over people and solutions, and unpredictable without the server's secret."""
    digest = salted_hmac("annotation.work.queue.hint_draw", f"{membership.pk} {solution}", algorithm="sha256").digest()
    return int.from_bytes(digest[:6]) / 2**48
