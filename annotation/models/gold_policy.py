from typing import Annotated

import msgspec

from annotation.models.choices import Role
from prm.messages import Message

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class GoldPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """Solutions with a known first error that come hidden among the others.

    `share` of what a person labels is gold, where the project has some. An answer is right within `tolerance` steps of
    the known first error; that there is none has no neighbour. Who has less than `pause_below` of the latest
    `pause_after` gold answers right is paused until a manager decides; 0 pauses nobody. Gold that `seen_by` of the
    annotators had is worn out, and gold with which `disputed_by` of the good ones disagree is suspect.
    """

    share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.05
    tolerance: Count = 0
    pause_below: Share = 0.0
    pause_after: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
    seen_by: Share = 0.8
    disputed_by: Share = 0.5


class ScreeningPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """Gold that everybody new labels before anything else; 0 `items` screens nobody.

    `pass_mark` of the `items` have to be right, and so many `attempts` are given without asking a manager. With
    `feedback` people see afterwards which answers were right. Roles in `exempt` begin without.
    """

    items: Annotated[int, msgspec.Meta(ge=0, le=200)] = 0
    pass_mark: Annotated[int, msgspec.Meta(ge=1)] = 8
    attempts: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    feedback: bool = False
    exempt: list[Role] = msgspec.field(default_factory=lambda: [Role.REVIEWER, Role.MANAGER])

    def __post_init__(self) -> None:
        if 0 < self.items < self.pass_mark:
            raise ValueError(Message("pass_mark_too_high", n=self.items, mark=self.pass_mark))
