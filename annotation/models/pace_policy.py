"""What the workbench does for a steady pace."""

from typing import Annotated

import msgspec


class PacePolicy(msgspec.Struct, forbid_unknown_fields=True):
    """Time spent on a solution counts until the hand has rested for `idle_seconds`. A break is proposed after
    `break_after_minutes` of work without one (0: never). A sitting begins with `session_goal` solutions as its goal
    (0: none); each person may set another.
    """

    idle_seconds: Annotated[int, msgspec.Meta(ge=15, le=3600)] = 120
    break_after_minutes: Annotated[int, msgspec.Meta(ge=0, le=24 * 60)] = 50
    session_goal: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
