"""Backbones: any Hugging Face causal LM with safetensors weights, or our own `tiny`, and their tunable parameters."""

import hashlib
import re
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from prm.attention import keep_out_of_compiled_layers, route_attention
from prm.config import Precision, Quantization, TrainConfig
from prm.encoding import Layout
from prm.errors import ModelFileError, TrainingError
from prm.messages import Message

TINY = Path(__file__).parent / "tiny"


@dataclass
class Backbone:
    """A causal LM with its tokenizer and separators; `context` is the maximum number of tokens.

    `packed` says whether its batches are packed, and `compute` is the type of its matrix products.
    """

    name: str
    model: Any
    tokenizer: Any
    layout: Layout
    context: int
    packed: bool
    compute: torch.dtype

    @property
    def device(self) -> torch.device:
        return self.model.device

    @property
    def width(self) -> int:
        """Size of one hidden state."""
        return self.model.get_input_embeddings().weight.shape[1]

    @property
    def vocabulary(self) -> int:
        """The number of tokens in the vocabulary."""
        return self.model.get_output_embeddings().weight.shape[0]

    @property
    def layers(self) -> list[nn.Module]:
        """The decoder's layers, first to last; empty if it has no list of them."""
        count = self.model.config.get_text_config().num_hidden_layers
        lists = [m for m in self.model.get_decoder().children() if isinstance(m, nn.ModuleList) and len(m) == count]
        return list(lists[0]) if lists else []

    @cached_property
    def token_texts(self) -> list[str]:
        """The text of each token of the vocabulary."""
        return decode_tokens(self.tokenizer, self.model.get_input_embeddings().weight.shape[0])

    def logits(self, states: Tensor) -> Tensor:
        """The logits of the next token, [rows, vocabulary] in float32, from the last states [rows, width]."""
        config = self.model.config.get_text_config()
        with self.autocast():
            logits = self.model.get_output_embeddings()(states).float()
        logits = (
            logits * (getattr(config, "logit_scale", None) or 1.0) / (getattr(config, "logits_scaling", None) or 1.0)
        )
        cap = getattr(config, "final_logit_softcapping", None)
        return torch.tanh(logits / cap) * cap if cap else logits

    def autocast(self) -> AbstractContextManager[Any]:
        """A context in which weights of a wider type multiply in `compute`."""
        return nullcontext() if self.compute == torch.float32 else torch.autocast(self.device.type, self.compute)

    @cached_property
    def sha256(self) -> str:
        """Digest of weights, shape and vocabulary as stored, on any device; read it before tuning the weights."""
        digest = hashlib.sha256(repr(sorted(self.tokenizer.get_vocab().items())).encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            values = tensor.detach().cpu()
            if values.dtype in (torch.float16, torch.bfloat16):  # one digest, loaded as stored or widened
                values = values.float()
            digest.update(f"{name} {tuple(values.shape)} {values.dtype}".encode())
            digest.update(values.contiguous().flatten().view(torch.uint8).numpy().data)
        return digest.hexdigest()


def load_backbone(
    name_or_path: str,
    *,
    device: str | None = None,
    context: int | None = None,
    packing: bool = True,
    precision: Precision = "auto",
    quantization: Quantization = "none",
    headless: bool = False,
) -> Backbone:
    """Load "tiny", a local folder, or a hub name; never remote code or pickled weights.

    `device` defaults to CUDA if available. On a CPU, or in "float32", weights are float32, else as stored; beside
    quantized layers they have the type of the matrix products. A `headless` backbone is the decoder alone and predicts
    no tokens. Raises ModelFileError with the reason.
    """
    from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = str(TINY) if name_or_path == "tiny" else name_or_path
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    quantized = _quantized(quantization, _compute_type(torch.device(device), precision), device)
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        kind: Any = AutoModel if headless else AutoModelForCausalLM
        model, report = kind.from_pretrained(
            source,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            **quantized or {"dtype": torch.float32 if device == "cpu" or precision == "float32" else "auto"},
        )
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ModelFileError(
            Message("backbone_error", name=name_or_path, error=str(error).strip().splitlines()[0])
        ) from error
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise ModelFileError(Message("backbone_weights_missing", name=name_or_path, missing=missing[0], n=len(missing)))
    backbone = wrap_backbone(
        name_or_path,
        model if quantized else model.to(device),
        tokenizer,
        context=context,
        packing=packing,
        precision=precision,
    )
    if quantized:
        _keep_gradients(model)
    _check_causal(backbone)
    return backbone


def _quantized(quantization: Quantization, compute: torch.dtype, device: str) -> dict[str, Any]:
    """The arguments that load a model with quantized linear layers; none if they stay as they are."""
    if quantization == "none":
        return {}
    if find_spec("bitsandbytes") is None:
        raise ModelFileError(Message("quantization_needs_package"))
    from transformers import BitsAndBytesConfig

    if quantization == "4bit":
        scheme = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=compute,
        )
    else:  # with a threshold, one token's outliers would change how the others are rounded, later ones too
        scheme = BitsAndBytesConfig(load_in_8bit=True, llm_int8_threshold=0.0)
    return {"quantization_config": scheme, "device_map": {"": device}, "dtype": compute}


def _keep_gradients(model: Any) -> None:
    """Leave quantized layers in training mode, which changes nothing else.

    On a CPU, bitsandbytes packs the others again at their first pass, and then loses gradients silently.
    """
    for layer in model.modules():
        if type(layer).__module__.startswith("bitsandbytes"):
            layer.train()


def load_configured(
    config: TrainConfig, *, base: str = "", device: str | None = None, headless: bool = False
) -> Backbone:
    """The backbone of a training configuration with its text layout; `base` is another name or path for it."""
    backbone = load_backbone(
        base or config.base,
        device=device,
        context=config.context,
        packing=config.packing,
        precision=config.precision,
        quantization=config.quantization,
        headless=headless,
    )
    backbone.layout = layout_of(backbone.tokenizer, config)
    return backbone


def layout_of(tokenizer: Any, config: TrainConfig) -> Layout:
    """The text layout of a training configuration."""
    return Layout.of(tokenizer, template=config.template, system=config.system_prompt, separator=config.separator)


def stored_type(name_or_path: str) -> torch.dtype:
    """The type in which the backbone's weights are stored; float32 if its configuration does not state it."""
    from transformers import AutoConfig

    source = str(TINY) if name_or_path == "tiny" else name_or_path
    config = AutoConfig.from_pretrained(source, trust_remote_code=False).get_text_config()
    return getattr(config, "dtype", None) or torch.float32


def wrap_backbone(
    name: str,
    model: Any,
    tokenizer: Any,
    *,
    context: int | None = None,
    packing: bool = True,
    precision: Precision = "auto",
) -> Backbone:
    """Wrap a loaded causal LM, in evaluation mode; `context` can only shorten the model's own.

    Batches of a family that is not known to pack exactly are padded, with a warning.
    """
    packed = packing and route_attention(model)
    if packing and not packed:
        family = model.get_decoder().config.model_type
        warnings.warn(f"{name}: batches of the {family} family are padded, not packed", stacklevel=2)
    own = own_context(model.config.get_text_config())
    return Backbone(
        name,
        model.eval(),
        tokenizer,
        Layout.of(tokenizer),
        min(own, context or own),
        packed,
        _compute_type(model.device, precision),
    )


def own_context(config: Any) -> int:
    """The number of positions whose states do not depend on the length of the text.

    Beyond its original length a "longrope" model rotates all positions by other angles, including the first ones, so a
    step's score would depend on later steps.
    """
    own = getattr(config, "max_position_embeddings", None) or 1 << 30
    rope = getattr(config, "rope_parameters", None) or {}
    by_layer = [part for part in rope.values() if isinstance(part, dict)]
    long = [part for part in (rope, *by_layer) if part.get("rope_type") == "longrope"]
    return min([own, *(part["original_max_position_embeddings"] for part in long)])


def decode_tokens(tokenizer: Any, count: int) -> list[str]:
    """The texts of the first `count` tokens; those of special ones are empty."""
    texts: list[str] = tokenizer.batch_decode(
        [[token] for token in range(count)], skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
    return texts


def _compute_type(device: torch.device, precision: Precision) -> torch.dtype:
    if precision == "auto":
        capable = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return torch.bfloat16 if capable else torch.float32
    return torch.float32 if precision == "float32" else torch.bfloat16


def _check_causal(backbone: Backbone) -> None:
    """Raise ModelFileError if a token's state depends on a later token, since scores must not."""
    ids = torch.arange(8, device=backbone.device).expand(2, -1).clone()
    ids[1, -1] = 0
    with torch.no_grad(), backbone.autocast():
        states = backbone.model.get_decoder()(input_ids=ids, use_cache=False).last_hidden_state[:, :-1].float()
    near = 1e-3 if backbone.compute == torch.float32 else 3e-2
    if not torch.allclose(states[0], states[1], rtol=near, atol=near, equal_nan=True):
        raise ModelFileError(Message("backbone_not_causal", name=backbone.name))


def prepare_tuning(backbone: Backbone, config: TrainConfig) -> None:
    """Make the backbone's tunable parameters require gradients: all ("full"), adapters ("lora") or none.

    Tunable parameters are in float32, frozen ones in the backbone's compute type. Raises TrainingError if the backbone
    does not support adapters, ModelFileError if a choice needs its layers and it has no list of them.
    """
    for choice in ("compile", "gradient_checkpointing", "shard"):
        if getattr(config, choice) and not backbone.layers:
            raise ModelFileError(Message("no_list_of_layers", choice=choice, name=backbone.name))
    if config.quantization == "none":  # else it was loaded so
        backbone.model.to(torch.float32 if config.lane == "full" else backbone.compute)
    if config.lane == "lora":
        _add_adapters(backbone, config)
    for name, parameter in backbone.model.named_parameters():
        parameter.requires_grad_(config.lane == "full" or (config.lane == "lora" and "lora_" in name))
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    if config.compile or config.gradient_checkpointing:
        _wrap_layers(backbone, config)


def _add_adapters(backbone: Backbone, config: TrainConfig) -> None:
    from peft import LoraConfig, inject_adapter_in_model

    ranks = config.lora_rank_pattern
    adapters = LoraConfig(
        r=config.lora_rank,
        rank_pattern={**ranks},  # peft adds entries for fused experts
        lora_alpha=config.lora_alpha or 2 * config.lora_rank,
        alpha_pattern={} if config.lora_alpha else {layer: 2 * rank for layer, rank in ranks.items()},
        target_modules=list(config.lora_targets) or "all-linear",
    )
    try:
        backbone.model = inject_adapter_in_model(adapters, backbone.model)
    except (ValueError, re.error) as error:
        raise TrainingError(Message("lora_unsupported", name=backbone.name, error=error)) from error
    adapted = [name.removesuffix(".lora_A") for name, _ in backbone.model.named_modules() if name.endswith(".lora_A")]
    for layer in ranks:
        if not any(re.fullmatch(rf"(.*\.)?({layer})", name) for name in adapted):  # as peft matches them
            raise TrainingError(Message("lora_rank_without_layer", name=backbone.name, layer=layer))


def tunable_parameters(backbone: Backbone) -> dict[str, nn.Parameter]:
    """Parameters that require gradients, by name; tied ones once."""
    return {name: p for name, p in backbone.model.named_parameters() if p.requires_grad}


def _wrap_layers(backbone: Backbone, config: TrainConfig) -> None:
    """Compile each layer once for all lengths, or store only its inputs for the backward pass."""
    if config.compile:
        keep_out_of_compiled_layers()
    for layer in backbone.layers:
        forward: Any = layer.forward
        if config.compile:
            forward = torch.compile(forward, dynamic=True)
        if config.gradient_checkpointing:
            forward = partial(_recomputed, forward)
        layer.forward = forward


def _recomputed(forward: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    """Run a layer with checkpointing, but not in training mode as trainers do, which would enable dropout."""
    if not torch.is_grad_enabled():
        return forward(*inputs, **named)
    return checkpoint(forward, *inputs, use_reentrant=False, **named)
