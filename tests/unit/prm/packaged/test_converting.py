"""A GGUF file becomes a folder that the library loads."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers.pre_tokenizers import ByteLevel

from prm.backbones import load_backbone

pytestmark = pytest.mark.torch


def test_a_converted_folder_packs_and_is_causal(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="the package gguf is not installed; `prm backbone` downloads its own")
    from prm.packaged.converting import convert

    write_tiny(gguf, tmp_path / "tiny.gguf")
    convert(tmp_path / "tiny.gguf", tmp_path / "out")
    backbone = load_backbone(str(tmp_path / "out"), device="cpu")
    assert (backbone.width, backbone.vocabulary, backbone.context, backbone.packed) == (16, 260, 64, True)
    assert not hasattr(backbone.model.config, "quantization_config")


def write_tiny(gguf, path: Path) -> None:
    """A llama of one layer with random weights, and a vocabulary of bytes."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(16)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(260)
    tokens = ["<s>", "</s>", *sorted(ByteLevel.alphabet()), "aa", "bb"]
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3] + [1] * 258)
    writer.add_token_merges(["a a", "b b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    rng = np.random.default_rng(0)
    shapes = {"token_embd": (260, 16), "output_norm": (16,), "output": (260, 16)}
    layer = {"attn_norm": (16,), "ffn_norm": (16,), "ffn_up": (32, 16), "ffn_gate": (32, 16), "ffn_down": (16, 32)}
    layer |= {f"attn_{name}": (16, 16) for name in ("q", "k", "v", "output")}
    for name, shape in (shapes | {f"blk.0.{name}": shape for name, shape in layer.items()}).items():
        writer.add_tensor(f"{name}.weight", rng.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
