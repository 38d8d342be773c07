"""The policy of the division of labour: which solutions people label, and which ones machine annotators."""

from typing import Annotated

import msgspec

from annotation.models.choices import Route
from prm.messages import Message

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Length = Annotated[int, msgspec.Meta(ge=1)]
Judges = Annotated[int, msgspec.Meta(ge=1, le=10)]


class RouteRule(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Conditions on a solution, and the `route` of the solutions that meet all of them.

    An empty list and None set no condition. `error` is the champion's probability that the solution has an error, and
    `doubt` is 1 where it is one half and 0 where it is certain; a solution without a score meets no condition on them.

    On a judge's route, `judges` machine annotators label the solution. On `judge_then_person`, a person follows if

    - a judge gives up, or is unsure of at least `unsure_steps` steps;
    - two judges name different first errors (`judges_differ`);
    - the champion gives a probability above `model_against` to the opposite of a judge's answer, error or none;
    - the champion's doubt is at least `model_doubt`.

    The last two never apply if they are None, or if the solution has no score.
    """

    route: Route
    domains: list[str] = []
    generators: list[str] = []
    min_steps: Length | None = None
    max_steps: Length | None = None
    min_error: Share | None = None
    max_error: Share | None = None
    min_doubt: Share | None = None
    max_doubt: Share | None = None
    judges: Judges = 1
    unsure_steps: Length = 1
    judges_differ: bool = True
    model_against: Share | None = 0.5
    model_doubt: Share | None = 0.5

    def __post_init__(self) -> None:
        for name in ("steps", "error", "doubt"):
            low, high = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if low is not None and high is not None and low > high:
                raise ValueError(Message("route_range_empty", low=f"min_{name}", high=f"max_{name}"))


class RoutingPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """The route of each solution of a generation: that of the first rule that it meets, else a person alone.

    A random `audit_share` of the solutions on a judge's route is labelled by a person too. Gold, screening, overlap,
    pinned solutions and the lanes that measure are always people's.
    """

    rules: list[RouteRule] = []
    audit_share: Share = 0.05


def doubt_of(error: float) -> float:
    """How little a probability of an error says: 1 at one half, 0 at certainty."""
    return 1 - abs(2 * error - 1)
