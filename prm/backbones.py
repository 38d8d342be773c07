"""Backbones: any Hugging Face causal LM with safetensors weights, and our own `tiny`."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from prm.encoding import Layout
from prm.errors import ModelFileError

TINY = Path(__file__).parent / "tiny"


@dataclass
class Backbone:
    """A causal LM with its tokenizer and separators; `context` is the most tokens it can read."""

    name: str
    model: Any
    tokenizer: Any
    layout: Layout
    context: int

    @property
    def device(self) -> torch.device:
        return self.model.device

    @property
    def width(self) -> int:
        """Size of one hidden state."""
        return self.model.get_input_embeddings().weight.shape[1]

    @cached_property
    def sha256(self) -> str:
        """Digest of weights, shape and vocabulary: the same backbone gives the same digest wherever it lies."""
        digest = hashlib.sha256(_vocabulary(self.tokenizer))
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        return digest.hexdigest()


def load_backbone(name_or_path: str, *, device: str | None = None, context: int | None = None) -> Backbone:
    """Load "tiny", a local folder, or a hub name; never remote code, never pickled weights.

    `device` defaults to CUDA where there is one. On a CPU weights are float32, else as stored.
    Raises ModelFileError with the reason.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    source = str(TINY) if name_or_path == "tiny" else name_or_path
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model: Any = AutoModelForCausalLM.from_pretrained(
            source,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32 if device == "cpu" else "auto",
        )
    except (OSError, ValueError, KeyError) as error:
        raise ModelFileError(f"backbone {name_or_path!r}: {str(error).strip().splitlines()[0]}") from error
    return wrap_backbone(name_or_path, model.to(device), tokenizer, context=context)


def wrap_backbone(name: str, model: Any, tokenizer: Any, *, context: int | None = None) -> Backbone:
    """Wrap a loaded causal LM, in evaluation mode; `context` can only shorten the model's own."""
    own = getattr(model.config, "max_position_embeddings", None) or 1 << 30
    return Backbone(name, model.eval(), tokenizer, Layout.of(tokenizer), min(own, context or own))


def _vocabulary(tokenizer: Any) -> bytes:
    return repr(sorted(tokenizer.get_vocab().items())).encode()
