"""What a project decides: its policies, validated when read and when written."""

from typing import Annotated, Any, Literal

import msgspec

from annotation.models.agreement_rule import AgreementRule
from annotation.models.feedback_policy import FeedbackPolicy
from annotation.models.gold_policy import GoldPolicy, ScreeningPolicy
from annotation.models.hints_policy import HintsPolicy
from annotation.models.pace_policy import PacePolicy
from annotation.models.queue_policy import QueuePolicy
from annotation.models.rounds_policy import RoundsPolicy
from prm.acquisition.functions import FUNCTIONS
from prm.consensus import CONSENSUS
from prm.errors import UnknownNameError
from prm.registry import Registry
from prm.vocabulary import NeutralPolicy, SourceKind

ColdStart = Literal["random", "surprisal"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


class LaneMix(msgspec.Struct, forbid_unknown_fields=True):
    """Share of a generation that goes to each lane; acquisition takes the rest."""

    control: Share = 0.2
    holdout: Share = 0.1
    calibration: Share = 0.05
    overlap: Share = 0.1


class ServingPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """What programs may ask of the model, for each token (0: no limit), and how long the score log is kept.

    `keep_text` keeps the texts that were scored with their scores; their hash is kept always.
    """

    requests_per_minute: Count = 0
    requests_per_day: Count = 0
    steps_per_minute: Count = 0
    steps_per_day: Count = 0
    log_days: Positive = 90
    keep_text: bool = True


class QualityPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """How labels are weighed and watched.

    `consensus` of training labels: "reliability" weighs each word by what shared steps tell of its giver, "shares"
    counts all alike. A batch is suspected where it differs so that, with labels as usual,
    `labels_between_false_alarms` judged labels would lie between two false alarms. Until somebody decides on it,
    `hold_rounds` begins no round by itself; `set_aside` takes what other people's labels name out of use unasked.
    """

    consensus: str = "reliability"
    labels_between_false_alarms: Annotated[int, msgspec.Meta(ge=10)] = 2000
    hold_rounds: bool = False
    set_aside: bool = False


class Caps(msgspec.Struct, forbid_unknown_fields=True):
    """The most that the acquisition lane of a generation takes: solutions of a problem, and a domain's share.

    With no cap on a problem one of each is taken, and more only as the budget needs it.
    """

    problem: Positive | None = None
    domain: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None


class ProjectPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """Queue, rounds and training policies of a project.

    `neutral` maps the neutral rating for training only; snapshots keep all three classes.
    `training_sources` names the kinds of label source that are pooled for training; anything but
    people has to be asked for, and with `training_agreement` only solutions that the rule keeps teach.
    `cold_start` says how the first generation's acquisition lane is filled: at random as
    the control lane is, or by the backbone's surprise, which needs no labels. The gate measures only where at least
    `gate_min_holdout` holdout solutions have a known first error. The latest `keep_models` versions keep their weights.
    `shadow_models` compares, after each round, what equal time spent on acquisition and on control taught. `training`
    holds further choices of a training run, in the library's words.
    """

    queue: QueuePolicy = msgspec.field(default_factory=QueuePolicy)
    pace: PacePolicy = msgspec.field(default_factory=PacePolicy)
    generation_budget: Positive = 200
    mix: LaneMix = msgspec.field(default_factory=LaneMix)
    acquisition: str = "balanced_errors"
    caps: Caps = msgspec.field(default_factory=Caps)
    cold_start: ColdStart = "random"
    neutral: NeutralPolicy = "positive"
    training_sources: Annotated[list[SourceKind], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["human"]
    )
    training_agreement: AgreementRule | None = None
    backbone: str = "tiny"
    rounds: RoundsPolicy = msgspec.field(default_factory=RoundsPolicy)
    gate_tolerance: Annotated[float, msgspec.Meta(ge=0)] = 0.02
    gate_min_holdout: Positive = 20
    keep_models: Positive = 10
    quality: QualityPolicy = msgspec.field(default_factory=QualityPolicy)
    gold: GoldPolicy = msgspec.field(default_factory=GoldPolicy)
    screening: ScreeningPolicy = msgspec.field(default_factory=ScreeningPolicy)
    feedback: FeedbackPolicy = msgspec.field(default_factory=FeedbackPolicy)
    hints: HintsPolicy = msgspec.field(default_factory=HintsPolicy)
    shadow_models: bool = True
    training: dict[str, Any] = {}
    serving: ServingPolicy = msgspec.field(default_factory=ServingPolicy)


def parse_policy(value: dict) -> ProjectPolicy:
    """A policy to be stored. Raises msgspec.ValidationError naming the field; a name may be in no registry."""
    policy = read_policy(value)
    named: list[tuple[str, Registry, str]] = [
        ("acquisition", FUNCTIONS, policy.acquisition),
        ("quality.consensus", CONSENSUS, policy.quality.consensus),
    ]
    for field, registry, name in named:
        try:
            registry.check(name)
        except UnknownNameError as error:
            raise msgspec.ValidationError(f"{error} - at `$.{field}`") from ValueError(*error.args)
    return policy


def read_policy(value: dict) -> ProjectPolicy:
    """A stored policy, which may name an extension that has been uninstalled since."""
    return msgspec.convert(value, ProjectPolicy)
