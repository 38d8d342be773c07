"""Hidden gold: which solution with a known first error a person is given next, without their knowing."""

from annotation.models import Membership


def due(membership: Membership) -> int | None:
    """The solution that is due now, None where ordinary work is. The caller holds the lock of the membership."""
    return None
