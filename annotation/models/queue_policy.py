"""How many labels are asked for, and how work is handed out."""

from typing import Annotated, Literal

import msgspec

from prm.messages import Message

Count = Annotated[int, msgspec.Meta(ge=0)]
Places = Annotated[int, msgspec.Meta(ge=1, le=100)]


class LabelsWanted(msgspec.Struct, forbid_unknown_fields=True):
    """Of how many people a solution's label is asked for, by the lane it is in."""

    acquisition: Places = 1
    control: Places = 1
    holdout: Places = 1
    calibration: Places = 1
    overlap: Places = 2


class QueuePolicy(msgspec.Struct, forbid_unknown_fields=True):
    """How work is handed out.

    A claim holds for `lease_minutes` from the page's last sign of life, which it gives every `heartbeat_seconds`; it
    fetches `prefetch_depth` solutions ahead. A person gets at most `daily_cap` solutions a day (0: no limit), and
    another solution of the same problem no sooner than `cool_down_minutes` after the last and, by `problem_again`, on
    the same day, on the next, or never. Days are those of the project's time zone (`rounds.time_zone`).
    """

    lease_minutes: Annotated[int, msgspec.Meta(ge=1, le=7 * 24 * 60)] = 30
    heartbeat_seconds: Annotated[int, msgspec.Meta(ge=5, le=3600)] = 60
    prefetch_depth: Annotated[int, msgspec.Meta(ge=0, le=20)] = 1
    daily_cap: Count = 0
    cool_down_minutes: Count = 0
    problem_again: Literal["same_day", "next_day", "never"] = "same_day"
    wanted: LabelsWanted = msgspec.field(default_factory=LabelsWanted)

    def __post_init__(self) -> None:
        if 2 * self.heartbeat_seconds > 60 * self.lease_minutes:
            raise ValueError(Message("heartbeat_too_slow", seconds=self.heartbeat_seconds, minutes=self.lease_minutes))
