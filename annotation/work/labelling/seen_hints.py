"""The model's scores that a person sees while they label a solution."""

from collections.abc import Sequence

import msgspec
from django.contrib.auth.models import User

from annotation.core.errors import Conflict, Missing
from annotation.core.statements import fetch_all
from annotation.models import Hint, Lease
from annotation.work.labelling.payload import SeenHint
from annotation.work.labelling.refusing import refuse
from annotation.work.queue.leases import find_lease
from prm.messages import Message

# `shown`, because a client may send seen hints although it was shown none.
STORE_SEEN = "UPDATE annotation_hint SET seen = %(seen)s::jsonb WHERE lease_id = %(lease)s AND shown"


def find_score(*, by: User, lease_id: int, position: int) -> float:
    """The model's score of the step at a position, for the person whose lease has a hint.

    Expired and submitted leases have the score too. Raises Missing (`lease_not_found`; `hint_not_found`, the same for
    the blind arm and for a step without a score), Forbidden, Conflict (`lease_ended`) after a skip.
    """
    lease = find_lease(by=by, lease_id=lease_id)
    if lease.state == Lease.State.RELEASED:
        raise Conflict(Message("lease_ended"), {"state": lease.state})
    hint = Hint.objects.filter(lease=lease, shown=True).first()
    score = dict(enumerate(hint.scores)).get(position) if hint else None
    if score is None:
        raise Missing(Message("hint_not_found"))
    return score


def check_seen(seen: Sequence[SeenHint], positions: int) -> None:
    """Reject repeated positions, and positions outside the solution. Raises DomainError (`invalid_submission`)."""
    seen_positions = set()
    for index, hint in enumerate(seen):
        if hint.position in seen_positions or not 0 <= hint.position < positions:
            message = Message("hint_position_invalid", position=hint.position)
            refuse(f"hints_seen[{index}].position", message)
        seen_positions.add(hint.position)


def store_seen(lease: int, seen: Sequence[SeenHint]) -> None:
    """Store the hints that the person had seen by their first submission."""
    rows = [[hint.position, hint.before] for hint in seen]
    fetch_all(STORE_SEEN, {"lease": lease, "seen": msgspec.json.encode(rows).decode()})
