"""Small random backbones and a world of arithmetic just large enough to learn from.

Nothing here imports torch before a fixture needs it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prm.encoding import PROBLEM_TOKEN, STEP_TOKEN
from prm.traces import Trace
from tests.unit.prm.small_world import make_traces

if TYPE_CHECKING:
    from prm.backbones import Backbone

WINDOW = 24  # shorter than any solution here, so that a window which is not kept shows
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "decoder_sparse_step": 1}
FAMILIES = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", {"tie_word_embeddings": False}),
    "qwen2": ("Qwen2Config", "Qwen2ForCausalLM", {"tie_word_embeddings": True}),
    "qwen2-sliding": (
        "Qwen2Config",
        "Qwen2ForCausalLM",
        {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 1},
    ),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", {"head_dim": 16}),
    "mistral": ("MistralConfig", "MistralForCausalLM", {"sliding_window": WINDOW}),
    "gemma": ("GemmaConfig", "GemmaForCausalLM", {"head_dim": 16}),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        {
            "head_dim": 16,
            "query_pre_attn_scalar": 8,
            "sliding_window": WINDOW,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 3.0,
        },
    ),
    "gemma3": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        {
            "head_dim": 16,
            "sliding_window": WINDOW,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "phi": ("PhiConfig", "PhiForCausalLM", {"resid_pdrop": 0.1, "attention_dropout": 0.1}),
    "phi3": ("Phi3Config", "Phi3ForCausalLM", {"sliding_window": WINDOW, "resid_pdrop": 0.1}),
    "granite": ("GraniteConfig", "GraniteForCausalLM", {"logits_scaling": 4.0, "attention_multiplier": 0.5}),
    "cohere": ("CohereConfig", "CohereForCausalLM", {"logit_scale": 0.25}),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXForCausalLM", {"attention_dropout": 0.1}),
    "mixtral": ("MixtralConfig", "MixtralForCausalLM", {"num_local_experts": 4, "sliding_window": WINDOW}),
    "qwen2_moe": (
        "Qwen2MoeConfig",
        "Qwen2MoeForCausalLM",
        {"moe_intermediate_size": 32, "shared_expert_intermediate_size": 32, **EXPERTS},
    ),
    "qwen3_moe": ("Qwen3MoeConfig", "Qwen3MoeForCausalLM", {"moe_intermediate_size": 32, "head_dim": 16, **EXPERTS}),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {}),
}
SEPARATED = {"llama"}  # families whose vocabulary has our separators


class Folders(dict[str, Path]):
    """A folder for each family, made when first asked for."""

    def __init__(self, factory: pytest.TempPathFactory) -> None:
        super().__init__()
        self.factory = factory

    def __missing__(self, family: str) -> Path:
        self[family] = _make(family, self.factory.mktemp(family))
        return self[family]


@pytest.fixture(scope="session")
def backbone_folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """A folder for each family; Llama's vocabulary has our separators, no other has."""
    return Folders(tmp_path_factory)


@pytest.fixture(params=["llama", "qwen2"])
def backbone(request: pytest.FixtureRequest, backbone_folders: Folders) -> "Backbone":
    from prm.backbones import load_backbone

    return load_backbone(str(backbone_folders[request.param]), device="cpu")


@pytest.fixture
def traces() -> list[Trace]:
    return make_traces(40, seed=1)


def _make(family: str, folder: Path) -> Path:
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    separators = [PROBLEM_TOKEN, STEP_TOKEN] if family in SEPARATED else []
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocabulary = {token: i for i, token in enumerate(["<bos>", "<eos>", *separators, *sorted(alphabet)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", additional_special_tokens=separators
    )
    wrapped.save_pretrained(folder)
    config_class, model_class, choices = FAMILIES[family]
    torch.manual_seed(0)
    config = getattr(transformers, config_class)(
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
        **choices,
    )
    getattr(transformers, model_class)(config).save_pretrained(folder)
    return folder
