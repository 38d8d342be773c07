"""What a person saw of the model's scores while they labelled a solution."""

from collections.abc import Sequence

import msgspec

from annotation.core.statements import fetch_all
from annotation.core.wording import said
from annotation.work.labelling.payload import SeenHint
from annotation.work.labelling.refusing import refuse

# Without effect where no hint was shown, whatever a client says.
KEEP = "UPDATE annotation_hint SET seen = %(seen)s::jsonb WHERE lease_id = %(lease)s AND shown"


def check_seen(seen: Sequence[SeenHint], positions: int) -> None:
    """Refuse hints on positions that the solution has not, or told twice (DomainError `invalid_submission`)."""
    told = set()
    for index, hint in enumerate(seen):
        if hint.position in told or not 0 <= hint.position < positions:
            message = said(
                "A hint on position {position} is told twice, or the solution has no such position.",
                position=hint.position,
            )
            refuse(f"hints_seen[{index}].position", message)
        told.add(hint.position)


def keep_seen(lease: int, seen: Sequence[SeenHint]) -> None:
    """Write down, with the draw, what was seen by the first submission."""
    told = [[hint.position, hint.before] for hint in seen]
    fetch_all(KEEP, {"lease": lease, "seen": msgspec.json.encode(told).decode()})
