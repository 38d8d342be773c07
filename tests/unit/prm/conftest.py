"""Small random backbones and a world of arithmetic just large enough to learn from."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from prm.backbones import Backbone, load_backbone
from prm.encoding import PROBLEM_TOKEN, STEP_TOKEN
from prm.traces import Trace
from tests.unit.prm.small_world import make_traces

FAMILIES = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def backbone_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each family; Llama's vocabulary has our separators, Qwen2's has none."""
    return {
        "llama": _make("llama", tmp_path_factory.mktemp("llama"), [PROBLEM_TOKEN, STEP_TOKEN]),
        "qwen2": _make("qwen2", tmp_path_factory.mktemp("qwen2"), []),
    }


@pytest.fixture(params=["llama", "qwen2"])
def backbone(request: pytest.FixtureRequest, backbone_folders: dict[str, Path]) -> Backbone:
    return load_backbone(str(backbone_folders[request.param]), device="cpu")


@pytest.fixture
def traces() -> list[Trace]:
    return make_traces(40, seed=1)


def _make(family: str, folder: Path, separators: list[str]) -> Path:
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {token: i for i, token in enumerate(["<bos>", "<eos>", *separators, *sorted(alphabet)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", additional_special_tokens=separators
    )
    wrapped.save_pretrained(folder)
    config_class, model_class = FAMILIES[family]
    torch.manual_seed(0)
    config = config_class(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        tie_word_embeddings=family == "qwen2",
    )
    model_class(config).save_pretrained(folder)
    return folder
