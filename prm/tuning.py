"""Which of a backbone's parameters are trained (all, low-rank adapters, or none), and how its layers run."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from prm.backbones import Backbone
from prm.config import TrainConfig
from prm.errors import ModelFileError, TrainingError
from prm.messages import Message


def prepare_tuning(backbone: Backbone, config: TrainConfig) -> None:
    """Make the backbone's tunable parameters require gradients: all ("full"), adapters ("lora") or none.

    What learns is kept in float32; what is frozen, in the type that the backbone computes in. Raises TrainingError
    where the backbone takes no adapters.
    """
    backbone.model.to(torch.float32 if config.lane == "full" else backbone.compute)
    if config.lane == "lora":
        from peft import LoraConfig, inject_adapter_in_model

        adapters = LoraConfig(r=config.lora_rank, lora_alpha=2 * config.lora_rank, target_modules="all-linear")
        try:
            backbone.model = inject_adapter_in_model(adapters, backbone.model)
        except ValueError as error:
            raise TrainingError(Message("lora_unsupported", name=backbone.name, error=error)) from error
    for name, parameter in backbone.model.named_parameters():
        parameter.requires_grad_(config.lane == "full" or (config.lane == "lora" and "lora_" in name))
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    if config.compile or config.gradient_checkpointing:
        _wrap_layers(backbone, config)


def tunable_parameters(backbone: Backbone) -> dict[str, nn.Parameter]:
    """Parameters that require gradients, each once however many names it is tied to."""
    return {name: p for name, p in backbone.model.named_parameters() if p.requires_grad}


def _wrap_layers(backbone: Backbone, config: TrainConfig) -> None:
    """Compile each layer, once for all lengths, or keep of it only what enters until its gradient is wanted."""
    if not backbone.layers:
        raise ModelFileError(Message("no_list_of_layers", name=backbone.name))
    for layer in backbone.layers:
        forward: Any = layer.forward
        if config.compile:
            forward = torch.compile(forward, dynamic=True)
        if config.gradient_checkpointing:
            forward = partial(_recomputed, forward)
        layer.forward = forward


def _recomputed(forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    """Like the trainers' own checkpointing, but without their switch to training mode, which brings dropout."""
    if not torch.is_grad_enabled():
        return forward(*inputs, **named)
    return checkpoint(forward, *inputs, use_reentrant=False, **named)
