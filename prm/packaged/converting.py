"""Converts a GGUF file to a Hugging Face folder in float32: `python -m prm.packaged.converting PACKAGES FILE FOLDER`.

It needs the package `gguf`, which may be in the folder PACKAGES.
"""

import signal
import sys
from pathlib import Path

import torch

from prm.backbones import load_backbone
from prm.processes import die_with_parent, use_half_the_cores


def convert(weights: Path, out: Path) -> None:
    """Write the causal LM and tokenizer in a GGUF file to `out`, and check that `load_backbone` takes them.

    The state is copied to a model whose configuration does not mention quantisation. Raises ModelFileError if the
    result is not causal.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    read = AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name, dtype=torch.float32)
    fields = read.config.to_dict()
    fields.pop("quantization_config", None)
    plain = type(read)(type(read.config).from_dict(fields))
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(out)
    tokenizer.save_pretrained(out)
    load_backbone(str(out), device="cpu")


if __name__ == "__main__":
    if die_with_parent(signal.SIGKILL):
        use_half_the_cores()
        packages, weights, out = sys.argv[1:]
        sys.path.insert(0, packages)
        convert(Path(weights), Path(out))
