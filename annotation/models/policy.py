"""The policy of a project, validated when it is read and written."""

import re
from typing import Annotated, Any, Literal

import msgspec

from annotation.models.agreement_rule import AgreementRule
from annotation.models.choices import MEASURING_LANES, Lane, Role
from annotation.models.rounds_policy import LONGEST_DAYS, Count, RoundsPolicy
from annotation.models.routing_policy import RoutingPolicy
from prm.acquisition.functions import FUNCTIONS
from prm.consensus import CONSENSUS
from prm.errors import UnknownNameError
from prm.messages import Message
from prm.registry import Registry
from prm.vocabulary import NeutralPolicy, SourceKind

ColdStart = Literal["random", "surprisal"]
Reveal = Literal["reached", "rated", "on_request"]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Places = Annotated[int, msgspec.Meta(ge=1, le=100)]


class LabelsWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many people label a solution, by its lane."""

    acquisition: Places = 1
    control: Places = 1
    holdout: Places = 1
    calibration: Places = 1
    overlap: Places = 2


class QueuePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the queue serves annotators.

    A lease lasts `lease_minutes` from the page's last heartbeat, which it sends every `heartbeat_seconds`; the page
    prefetches `prefetch_depth` solutions. A person gets at most `daily_cap` solutions a day (0: no limit). They get
    another solution of the same problem `cool_down_minutes` after the last one at the earliest and, by `problem_again`,
    on the same day, on the next, or never. Days are in the project's time zone (`rounds.time_zone`).
    """

    lease_minutes: Annotated[int, msgspec.Meta(ge=1, le=7 * 24 * 60)] = 30
    heartbeat_seconds: Annotated[int, msgspec.Meta(ge=5, le=3600)] = 60
    prefetch_depth: Annotated[int, msgspec.Meta(ge=0, le=20)] = 1
    daily_cap: Count = 0
    cool_down_minutes: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_DAYS * 24 * 60)] = 0
    problem_again: Literal["same_day", "next_day", "never"] = "same_day"
    wanted: LabelsWanted = msgspec.field(default_factory=LabelsWanted)

    def __post_init__(self) -> None:
        if 2 * self.heartbeat_seconds > 60 * self.lease_minutes:
            slow = Message("heartbeat_too_slow", seconds=self.heartbeat_seconds, minutes=self.lease_minutes)
            raise ValueError(slow, "heartbeat_seconds")


class PacePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How working time is counted and limited.

    Time on a solution counts until there was no input for `idle_seconds`. The page suggests a break after
    `break_after_minutes` without one (0: never). The goal of a session is `session_goal` solutions (0: none); each
    person can change it.
    """

    idle_seconds: Annotated[int, msgspec.Meta(ge=15, le=3600)] = 120
    break_after_minutes: Annotated[int, msgspec.Meta(ge=0, le=24 * 60)] = 50
    session_goal: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0


class GoldPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hidden gold: solutions with a known first error among the others.

    `share` of a person's solutions are gold, if the project has gold. An answer is right within `tolerance` steps of
    the reference; "no error" is never within a tolerance. A person with less than `pause_below` of their latest
    `pause_after` gold answers right is paused until a manager decides (0: nobody). Gold is worn out once a share
    `seen_by` of the annotators have seen it, and suspect if a share `disputed_by` of the good ones disagree with it.
    """

    share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.05
    tolerance: Count = 0
    pause_below: Share = 0.0
    pause_after: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
    seen_by: Share = 0.8
    disputed_by: Share = 0.5


class ScreeningPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Gold that new annotators label first; 0 `items` screen nobody.

    At least `pass_mark` of the `items` must be right. People have this many `attempts` before a manager must decide.
    With `feedback` they see afterwards which answers were right. Roles in `exempt` are not screened.
    """

    items: Annotated[int, msgspec.Meta(ge=0, le=200)] = 0
    pass_mark: Positive = 8
    attempts: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1
    feedback: bool = False
    exempt: list[Role] = msgspec.field(default_factory=lambda: [Role.REVIEWER, Role.MANAGER])

    def __post_init__(self) -> None:
        if 0 < self.items < self.pass_mark:
            raise ValueError(Message("pass_mark_too_high", n=self.items, mark=self.pass_mark), "pass_mark")


class FeedbackPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What people see about the quality of their labels on the page of their own work.

    `gold`: their share of right answers on hidden gold, without revealing which solutions were gold. `peers`: how often
    they mark the same first error as others who labelled the same solution.
    """

    gold: bool = True
    peers: bool = True


class HintsPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The model's score of each step, shown on a random `share` of each person's solutions; 0 shows none.

    Each pair of a person in `roles` and a solution in `lanes` is drawn separately. Solutions drawn without a hint are
    the blind arm, with which hints are compared. In every lane at least half of the solutions have no hint, so a
    missing hint reveals little about the lane. Holdout and calibration cannot be chosen: their labels measure the model
    and are never made with its help.

    The score of a step is shown once the person has `reached` it, once they have `rated` it themselves, or
    `on_request` by a key; never that of a later step.
    """

    share: Annotated[float, msgspec.Meta(ge=0, le=0.5)] = 0.0
    lanes: list[Lane] = msgspec.field(default_factory=lambda: [Lane.ACQUISITION, Lane.CONTROL, Lane.PINNED])
    roles: list[Role] = msgspec.field(default_factory=lambda: [Role.ANNOTATOR])
    reveal: Reveal = "reached"

    def __post_init__(self) -> None:
        if measuring := next((lane for lane in self.lanes if lane in MEASURING_LANES), None):
            raise ValueError(Message("lane_without_hints", lane=measuring), "lanes")


class LaneMix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Share of a generation that goes to each lane; acquisition takes the rest."""

    control: Share = 0.2
    holdout: Share = 0.1
    calibration: Share = 0.05
    overlap: Share = 0.1


class ServingPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Scoring limits of each token (0: no limit), and how many days the score log is stored.

    With `keep_text` the log stores the scored texts; it always stores their hashes.
    """

    requests_per_minute: Count = 0
    requests_per_day: Count = 0
    steps_per_minute: Count = 0
    steps_per_day: Count = 0
    log_days: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_DAYS)] = 90
    keep_text: bool = True


class QualityPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How labels are weighted and monitored.

    The `consensus` of training labels weights each rating by its annotator's "reliability" or competence ("mace"), or
    counts all equally ("shares"). The thresholds of the alarms are such that at least `labels_between_false_alarms`
    labels lie between two false alarms of all checks together on average. With `hold_rounds`, no round starts
    automatically while a suspected batch waits for a decision. With `set_aside`, batches that other people's labels
    reveal are set aside at once.
    """

    consensus: str = "reliability"
    labels_between_false_alarms: Annotated[int, msgspec.Meta(ge=10)] = 2000
    hold_rounds: bool = False
    set_aside: bool = False


class CardPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What dataset cards state and the platform cannot know; an empty field is shown as not stated.

    `licence` is an identifier of the Hugging Face Hub, such as "cc-by-4.0", and `languages` are codes of ISO 639 for
    the solutions. `annotator_training` and `annotator_pay` say how people were trained and paid.
    """

    licence: str = ""
    languages: list[str] = []
    annotator_training: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    annotator_pay: Annotated[str, msgspec.Meta(max_length=2000)] = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9.+-]{0,60}", self.licence):
            raise ValueError(Message("licence_not_identifier", licence=self.licence[:60]), "licence")
        if unknown := next((code for code in self.languages if not re.fullmatch(r"[a-z]{2,3}", code)), None):
            raise ValueError(Message("language_not_code", language=unknown[:60]), "languages")


class CostsPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What labels cost: an `hour` of an annotator's time (None if not stated) in a `currency`, a code of ISO 4217."""

    hour: Annotated[float, msgspec.Meta(ge=0)] | None = None
    currency: str = "EUR"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z]{3}", self.currency):
            raise ValueError(Message("currency_not_code", currency=self.currency[:60]), "currency")


class Caps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Caps of the acquisition lane of a generation: solutions per problem, and the share of a domain.

    Without a cap per problem, the lane takes one solution of each, and more only to use the budget.
    """

    problem: Positive | None = None
    domain: Annotated[float, msgspec.Meta(gt=0, le=1)] | None = None


class ProjectPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The queue, rounds and training policies of a project.

    - `neutral` maps the neutral rating for training only; snapshots hold all three classes.
    - `training_sources` are the source kinds that are pooled for training, by default people only. With
      `training_agreement`, only solutions that the rule keeps are used.
    - Training also learns from the grades of up to `graded_solutions` unread solutions of the pool with a right final
      answer, and as many with a wrong one; 0 uses none.
    - `cold_start` fills the acquisition lane of the first generation: at random like the control lane, or by the
      backbone's surprisal, which needs no labels.
    - The gate measures a model if at least `gate_min_holdout` holdout solutions have a known first error.
    - The latest `keep_models` versions keep their weights.
    - `shadow_models` compares models from equal labelling time on acquisition and on control after each round.
    - `training` holds more choices of a training run, with the names of the library.
    """

    queue: QueuePolicy = msgspec.field(default_factory=QueuePolicy)
    pace: PacePolicy = msgspec.field(default_factory=PacePolicy)
    generation_budget: Positive = 200
    mix: LaneMix = msgspec.field(default_factory=LaneMix)
    acquisition: str = "contradiction"
    caps: Caps = msgspec.field(default_factory=Caps)
    cold_start: ColdStart = "random"
    neutral: NeutralPolicy = "positive"
    training_sources: Annotated[list[SourceKind], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["human"]
    )
    training_agreement: AgreementRule | None = None
    graded_solutions: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 1000
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
    routing: RoutingPolicy = msgspec.field(default_factory=RoutingPolicy)
    costs: CostsPolicy = msgspec.field(default_factory=CostsPolicy)
    shadow_models: bool = True
    training: dict[str, Any] = {}
    serving: ServingPolicy = msgspec.field(default_factory=ServingPolicy)
    card: CardPolicy = msgspec.field(default_factory=CardPolicy)


def parse_policy(value: dict) -> ProjectPolicy:
    """A policy to store. Raises msgspec.ValidationError, which names the field, also for a name in no registry."""
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
    """A stored policy, which may name an extension that is no longer installed."""
    return msgspec.convert(value, ProjectPolicy)
