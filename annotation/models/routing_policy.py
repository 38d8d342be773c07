"""The policy of the division of labour: which solutions people label, and which ones machine annotators."""

from typing import Annotated

import msgspec

from annotation.core.bounds import about
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

    route: Annotated[Route, about("Who labels a solution that meets the rule.")]
    domains: Annotated[list[str], about("Domains of the problem; empty for all.")] = []
    generators: Annotated[list[str], about("Generators of the solution; empty for all.")] = []
    min_steps: Annotated[Length | None, about("The fewest steps; null for no limit.")] = None
    max_steps: Annotated[Length | None, about("The most steps; null for no limit.")] = None
    min_error: Annotated[Share | None, about("The smallest predicted error; null for no limit.")] = None
    max_error: Annotated[Share | None, about("The largest predicted error; null for no limit.")] = None
    min_doubt: Annotated[Share | None, about("The smallest doubt of the champion; null for no limit.")] = None
    max_doubt: Annotated[Share | None, about("The largest doubt of the champion; null for no limit.")] = None
    judges: Annotated[Judges, about("Number of machine annotators that label it.")] = 1
    unsure_steps: Annotated[Length, about("A person follows if a judge is unsure of this many steps.")] = 1
    judges_differ: Annotated[bool, about("Whether a person follows if judges name different first errors.")] = True
    model_against: Annotated[
        Share | None, about("A person follows above this probability that a judge is wrong; null for never.")
    ] = 0.5
    model_doubt: Annotated[
        Share | None, about("A person follows from this doubt of the champion on; null for never.")
    ] = 0.5

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
