"""To whom, and on which solutions, the model's scores are shown beside the work."""

from typing import Annotated, Literal

import msgspec

from annotation.models.choices import MEASURING_LANES, Lane, Role
from prm.messages import Message

Reveal = Literal["reached", "rated", "on_request"]


class HintsPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """The model's score of each step, shown on a random `share` of what a person is given; 0 shows none.

    It is drawn for each person and solution anew, among those in `lanes` and by people in `roles`; where it falls the
    other way the solution is of the blind arm, against which hints are measured. At least half of the solutions come
    without a hint in every lane, so that one without tells little of its lane. Holdout and calibration are no choice:
    their labels measure the model and are never made with its help.

    The score of a step is shown once the person has `reached` it, once they have `rated` it themselves, or
    `on_request` by a key; never that of a later step.
    """

    share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.0
    lanes: list[Lane] = msgspec.field(default_factory=lambda: [Lane.ACQUISITION, Lane.CONTROL, Lane.PINNED])
    roles: list[Role] = msgspec.field(default_factory=lambda: [Role.ANNOTATOR])
    reveal: Reveal = "reached"

    def __post_init__(self) -> None:
        if measuring := next((lane for lane in self.lanes if lane in MEASURING_LANES), None):
            raise ValueError(Message("lane_without_hints", lane=measuring))
