"""The answer to a claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils.translation import gettext as _

from annotation.models import Lease
from prm.vocabulary import StepKind

StepRow = tuple[int, int, int, str, StepKind]
Reason = Literal[
    "done",
    "not_started",
    "all_leased",
    "not_annotator",
    "holding_enough",
    "paused",
    "screening_failed",
    "screening_unready",
    "cap_reached",
    "cooling_down",
    "not_qualified",
]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A lease, or the reason for its absence.

    `steps` are those of the lease's solution, each its position, alternative, id, text and kind, in order. `guidelines`
    is the version that applies, 0 if there is none. `message` is for the annotator; `retry_at` is when there may be
    work again, None if unknown.
    """

    lease: Lease | None = None
    steps: Sequence[StepRow] = ()
    guidelines: int = 0
    reason: Reason | None = None
    message: str = ""
    retry_at: datetime | None = None
    resumed: bool = False


def holding_enough() -> Claim:
    """The answer to a person who has as many leases as they may have."""
    return Claim(reason="holding_enough", message=_("Finish the solutions you have first."))
