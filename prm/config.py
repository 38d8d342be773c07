"""The configuration of a training run and the progress that it reports. No torch."""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from prm.files import read_json
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

Lane = Literal["heads", "full", "lora"]
Stage = Literal["tokenise", "cache", "train", "calibrate", "done"]
ClassBalance = Literal["none", "inverse", "effective", "held"]
Template = Literal["plain", "chat"]
Feature = Literal["middle", "last", "numbers", "separator", "statistics"]
Precision = Literal["auto", "float32", "bfloat16"]
Quantization = Literal["none", "4bit", "8bit"]
Optimizer = Literal["adamw", "adafactor", "sgd"]
Schedule = Literal["constant", "linear", "cosine"]
FEATURES: tuple[Feature, ...] = get_args(Feature)


class TrainConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All settings of a run except its data.

    `lane`: "heads" trains the heads on cached features of a frozen backbone; "full" also tunes the whole backbone;
    "lora" tunes adapters. The `template` "chat" lays out problem and steps as a user's and an assistant's message in
    the backbone's own chat template, after `system_prompt`; without one, the template's own applies. `separator` ends a
    step: by default the vocabulary's token for it, or a blank line. `features` are the heads' inputs (`prm.features`).
    `neutral` maps the neutral rating. A training batch has `batch_steps` steps in the heads lane, where an epoch reads
    few labels several times, and `batch_tokens` tokens in the others. `token_budget` is the number of tokens, including
    padding, in one forward pass without gradient. `packing` packs documents instead of padding them if the backbone's
    family allows it. `precision` of the backbone is bfloat16 under "auto" if CUDA supports it, else float32.
    `quantization` stores the linear layers of the lora lane's frozen backbone in 4 bits (NF4, as in QLoRA) or 8; it
    needs the package bitsandbytes. `gradient_checkpointing` recomputes each layer in the backward pass instead of
    storing its activations. `compile` compiles the layers with torch, which takes minutes. `context` is in tokens, None
    for the backbone's own. `part_tokens` is the maximum of one pass with gradient, None for a whole batch. `processes`
    is the number that the command starts, "auto" for one per GPU; `shard` distributes the layers over them.
    `validation_share` of the pool is set aside if there are too few calibration solutions. Adapters have the scale
    `lora_alpha` / `lora_rank` (None is 2), and are in every linear layer or those that `lora_targets` names;
    `lora_rank_pattern` gives layers another rank, by the end of their name or a regular expression (peft's
    `rank_pattern`). The `optimizer` "sgd" has a momentum of 0.9. Learning rates are peaks: they rise over the share
    `warmup` of all steps, then follow the `schedule`. `patience` counts epochs without a better validation loss.
    `checkpoint_seconds` is the most work that a crash can lose. `trackers` receive the curves: "tensorboard" (files in
    the folder), "wandb", "mlflow" or registered ones.

    The objective: with 2 `classes` it learns "no error" against "error", with 3 the posterior of good, neutral and bad,
    and `neutral` then defines p(no error). `process_weight` is the weight of the step labels' cross-entropy, and
    `outcome_weight` that of a second ensemble, which learns from `final_answer_correct` at the last step, also of
    solutions without labels; a part of weight 0 is absent. `pairwise_weight` is that of the process part's preference
    between rated completions at one position, and `graded_weight` that of the likelihood of grades: the graded final
    answer of an unread solution of the pool is evidence about the product of its step probabilities, which is its
    chance of having no error (0: it does not teach). `estimate_weight` is that of Monte Carlo estimates of unread
    solutions, of which each is evidence about the product up to its step. If it is 0, labels by Monte Carlo alone are
    step labels like any others. Both weights shrink in proportion if an epoch draws fewer steps of unread solutions
    than it has labelled ones. `class_balance` weights classes by the inverse of their counts or effective numbers, none
    more than `balance_cap` times another. "held" weights all classes equally and shifts the logits to the class shares
    of the held-out part, which differ if the training part was selected for likely errors.

    Against label noise: `label_smoothing` spreads that share of each label over the classes, and `robustness` in [0, 1]
    is q of the generalised cross-entropy (0 is the plain one). `anchor` pulls each head towards its own initial draw, 1
    being the Bayesian strength; it replaces the heads' weight decay. `verdict_accuracy` is the share of verdicts that
    must be right below the abstention limit (`prm.trust`).
    """

    base: str = "tiny"
    template: Template = "plain"
    system_prompt: str = ""
    separator: str = ""
    lane: Lane = "heads"
    features: tuple[Feature, ...] = ("numbers", "separator", "statistics")
    neutral: NeutralPolicy = "positive"
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)] = 0
    heads: int = 12
    hidden: int = 64
    dropout: float = 0.2
    epochs: int = 30
    patience: int = 8
    batch_steps: int = 64
    batch_tokens: int = 2048
    token_budget: int = 8192
    packing: bool = True
    precision: Precision = "auto"
    quantization: Quantization = "none"
    gradient_checkpointing: bool = False
    compile: bool = False
    context: int | None = None
    optimizer: Optimizer = "adamw"
    schedule: Schedule = "cosine"
    warmup: float = 0.05
    learning_rate: float = 3e-3
    backbone_learning_rate: float = 2e-4
    weight_decay: float = 0.05
    validation_share: float = 0.15
    lora_rank: int = 8
    lora_alpha: int | None = None
    lora_targets: tuple[str, ...] = ()
    lora_rank_pattern: dict[str, int] = {}
    checkpoint_seconds: float = 30.0
    trackers: tuple[str, ...] = ("tensorboard",)
    classes: Literal[2, 3] = 2
    process_weight: float = 1.0
    outcome_weight: float = 0.0
    pairwise_weight: float = 1.0
    graded_weight: float = 1.0
    estimate_weight: float = 0.0
    class_balance: ClassBalance = "held"
    balance_cap: float = 10.0
    label_smoothing: float = 0.0
    robustness: float = 0.0
    anchor: float = 0.01
    part_tokens: int | None = None
    processes: int | Literal["auto"] = "auto"
    shard: bool = False
    verdict_accuracy: float = 0.7

    def __post_init__(self) -> None:
        positive = ("heads", "hidden", "epochs", "patience", "batch_steps", "batch_tokens", "token_budget", "lora_rank")
        for name in positive:
            if getattr(self, name) < 1:
                raise ValueError(Message("setting_below_one", name=name))
        if not self.features or len(set(self.features)) < len(self.features):
            raise ValueError(Message("features_invalid", known=", ".join(FEATURES)))
        for name in ("dropout", "warmup", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(Message("setting_not_below_one", name=name))
        if not 0 < self.verdict_accuracy < 1:
            raise ValueError(Message("verdict_accuracy_out_of_range"))
        if not 0 < self.validation_share < 1:
            raise ValueError(Message("validation_share_out_of_range"))
        for name in (
            "process_weight",
            "outcome_weight",
            "pairwise_weight",
            "graded_weight",
            "estimate_weight",
            "anchor",
            "weight_decay",
            "checkpoint_seconds",
        ):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(Message("setting_negative", name=name))
        if self.process_weight == 0 and self.outcome_weight == 0:
            raise ValueError(Message("nothing_to_learn_by_weights"))
        if not self.balance_cap >= 1:
            raise ValueError(Message("balance_cap_out_of_range"))
        if not 0 <= self.robustness <= 1:
            raise ValueError(Message("robustness_out_of_range"))
        for name in ("learning_rate", "backbone_learning_rate", "lora_alpha"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(Message("setting_not_positive", name=name))
        for name in ("context", "part_tokens", "processes"):
            value = getattr(self, name)
            if isinstance(value, int) and value < 1:
                raise ValueError(Message("setting_below_one", name=name))
        for layer, rank in self.lora_rank_pattern.items():
            if rank < 1:
                raise ValueError(Message("setting_below_one", name=f"lora_rank_pattern.{layer}"))
        if self.system_prompt and self.template != "chat":
            raise ValueError(Message("system_prompt_without_chat"))
        if self.shard and self.lane != "full":
            raise ValueError(Message("shard_outside_full_lane"))
        if self.quantization != "none" and self.lane != "lora":
            raise ValueError(Message("quantization_outside_lora_lane"))
        if self.shard and self.optimizer == "adafactor":
            raise ValueError(Message("shard_with_adafactor"))


class Progress(msgspec.Struct, omit_defaults=True):
    """One report of a running job: `step` of `of` within `stage`; losses per labelled step in nats.

    `tokens_per_second` counts tokens of text, not padding; `utilisation` is the model's arithmetic as a share of the
    device's peak. Both are means over the stage and all processes. `message` is English, with the `code` and `values`
    of `prm.messages`.
    """

    stage: Stage
    step: int
    of: int
    seconds: float
    loss: float | None = None
    message: str = ""
    code: str = ""
    values: dict[str, Any] = {}
    tokens_per_second: float | None = None
    utilisation: float | None = None
    held_loss: float | None = None


def read_config(path: Path) -> TrainConfig:
    """Read a TrainConfig from JSON; raises DataError naming file and field."""
    return read_json(path, TrainConfig)
