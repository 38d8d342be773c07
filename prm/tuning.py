"""Which of a backbone's parameters learn: all, low-rank adapters, or none."""

from torch import nn

from prm.backbones import Backbone
from prm.config import TrainConfig


def prepare_tuning(backbone: Backbone, config: TrainConfig) -> None:
    """Make the backbone's tunable parameters require gradients: all ("full"), adapters ("lora") or none."""
    if config.lane == "lora":
        from peft import LoraConfig, inject_adapter_in_model

        adapters = LoraConfig(r=config.lora_rank, lora_alpha=2 * config.lora_rank, target_modules="all-linear")
        backbone.model = inject_adapter_in_model(adapters, backbone.model)
    for name, parameter in backbone.model.named_parameters():
        parameter.requires_grad_(config.lane == "full" or (config.lane == "lora" and "lora_" in name))


def tunable_parameters(backbone: Backbone) -> dict[str, nn.Parameter]:
    """Parameters that require gradients, each once however many names it is tied to."""
    return {name: p for name, p in backbone.model.named_parameters() if p.requires_grad}
