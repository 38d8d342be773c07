"""vLLM's model class for a folder of `prm export`: vLLM's own decoder, then this library's features and heads.

A request is token ids with marked ends (`prm.portable.marking`). With activation, the result is p(error) and p(no
error) of each step; without it, the step's features, which a client passes to heads of its own. States are pooled over
all tokens, so long requests may be split, and batches mix requests freely.
"""

import json
from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from safetensors.torch import load
from torch import Tensor, nn
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from vllm.config import VllmConfig
from vllm.model_executor.layers.pooler import PoolingParamsUpdate
from vllm.model_executor.layers.pooler.abstract import Pooler
from vllm.model_executor.layers.pooler.tokwise import AllPool
from vllm.model_executor.models.interfaces import supports_eagle3
from vllm.model_executor.models.interfaces_base import default_pooling_type
from vllm.model_executor.models.utils import init_vllm_registered_model
from vllm.tasks import PoolingTask
from vllm.tokenizers import cached_tokenizer_from_config
from vllm.transformers_utils.repo_utils import get_hf_file_bytes
from vllm.v1.pool.metadata import PoolingMetadata

from prm.backbones import decode_tokens
from prm.encoding import Layout
from prm.errors import ModelFileError
from prm.features import Reading, describe_steps
from prm.heads import Heads, good_logit
from prm.messages import Message
from prm.portable.layout import HEADER, HEADS_FILE, Head
from prm.portable.marking import Marks


@dataclass
class Vocabulary:
    """What the features need of a backbone besides its states."""

    layout: Layout
    token_texts: list[str]
    vocabulary: int
    decoder: Any

    def logits(self, states: Tensor) -> Tensor:
        """The logits of the next token, [rows, vocabulary] in float32, from the last states [rows, width]."""
        logits: Tensor = self.decoder.compute_logits(states).float()
        return logits


class StepPooler(Pooler):  # type: ignore[misc] # vLLM has no types here
    """Converts the states of all tokens, [tokens, width] of the last layer beside those of the middle one, to steps."""

    def __init__(self, head: Head, heads: Heads, vocabulary: Vocabulary, marks: Marks, width: int) -> None:
        super().__init__()
        self.head, self.heads, self.vocabulary, self.marks, self.width = head, heads, vocabulary, marks, width
        self.all_tokens = AllPool()  # collects the parts of a request that was split

    def get_supported_tasks(self) -> Set[PoolingTask]:
        return {"token_classify"}

    def get_pooling_updates(self, task: PoolingTask) -> PoolingParamsUpdate:
        return PoolingParamsUpdate(requires_token_ids=True)

    def forward(self, hidden_states: Tensor, pooling_metadata: PoolingMetadata) -> list[Tensor | None]:
        """For each finished request, [steps, 2] or [steps, features]."""
        states = self.all_tokens(hidden_states, pooling_metadata)
        ids = pooling_metadata.get_prompt_token_ids_cpu()
        wanted = [params.use_activation for params in pooling_metadata.pooling_params]
        finished = [place for place, own in enumerate(states) if own is not None]
        answers: list[Tensor | None] = [None] * len(states)
        if finished:
            rows = self._features([states[place] for place in finished], [ids[place] for place in finished])
            for place, own in zip(finished, rows, strict=True):
                answers[place] = self._scores(own) if wanted[place] else own
        return answers

    def _features(self, states: list[Tensor], ids: list[Tensor]) -> list[Tensor]:
        """The features [steps, columns] of each request."""
        spans, counts, at = [], [], 0
        for own in ids:
            found = self.marks.spans(own.tolist())
            spans += [(at + start, at + end) for start, end in found]
            counts.append(len(found))
            at += len(own)
        if not spans:
            return [own[:0] for own in states]
        whole, tokens = torch.cat(states), torch.cat(ids).to(states[0].device)
        last, middle = whole[:, : self.width], whole[:, self.width :]
        reading = Reading(tokens.long(), torch.arange(at, device=tokens.device) - 1, last, middle)
        return list(describe_steps(self.vocabulary, reading, spans, self.head.features).split(counts))

    def _scores(self, rows: Tensor) -> Tensor:
        """The ensemble's mean [p(error), p(no error)] of each step."""
        if not len(rows):
            return rows.new_zeros(0, 2)
        good = good_logit(self.heads(rows), self.head.neutral).double() / self.head.temperature
        right = torch.sigmoid(good).mean(0)
        return torch.stack([1 - right, right], dim=1).float()


@default_pooling_type(tok_pooling_type="ALL")
class ProcessRewardModel(nn.Module):
    """An exported ensemble; vLLM makes the decoder that the folder's model type names."""

    is_pooling_model = True

    def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
        super().__init__()
        config = vllm_config.model_config
        shape = config.hf_config
        self.head, self.tensors = read_heads(config.model, config.revision)
        self.layout = Layout(self.head.start, self.head.problem_end, self.head.step_end)
        tokenizer = cached_tokenizer_from_config(config)
        self.marks = Marks.of(self.layout, tokenizer.all_special_ids)
        self.decoder = init_vllm_registered_model(
            vllm_config, prefix=prefix, architectures=[MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[shape.model_type]]
        )
        if {"middle", "numbers"} & {*self.head.features}:
            if not supports_eagle3(self.decoder):  # the interface by which vLLM's decoders return inner layers
                raise ModelFileError(Message("vllm_hides_middle_layer", family=shape.model_type))
            self.decoder.set_aux_hidden_state_layers(((shape.num_hidden_layers + 1) // 2,))
        n, width, hidden = self.tensors["enter"].shape
        outputs = self.tensors["leave"].shape[2]
        heads = Heads(n, width, hidden, 0.0, max(outputs, 2)).float().eval()
        texts = decode_tokens(tokenizer, shape.vocab_size)
        vocabulary = Vocabulary(self.layout, texts, shape.vocab_size, self.decoder)
        self.pooler = StepPooler(self.head, heads, vocabulary, self.marks, shape.hidden_size)
        self.make_empty_intermediate_tensors = self.decoder.make_empty_intermediate_tensors

    def embed_input_ids(self, input_ids: Tensor) -> Tensor:
        return self.decoder.embed_input_ids(input_ids)

    def forward(
        self, input_ids: Tensor, positions: Tensor, intermediate_tensors: Any = None, inputs_embeds: Any = None
    ) -> Any:
        """The states of the last layer, beside those of the middle one if a feature needs them."""
        ids = self.marks.restore(input_ids, positions)
        states = self.decoder(ids, positions, intermediate_tensors, inputs_embeds)
        return torch.cat([states[0], *states[1]], dim=-1) if isinstance(states, tuple) else states

    def load_weights(self, weights: Iterable[tuple[str, Tensor]]) -> set[str]:
        """Load the decoder's weights; the heads were read with their settings."""
        own = self.pooler.heads.state_dict()
        self.pooler.heads.load_state_dict({name: tensor.to(own[name]) for name, tensor in self.tensors.items()})
        loaded = self.decoder.load_weights((name, tensor) for name, tensor in weights if name not in own)
        return {f"decoder.{name}" for name in loaded} | {
            name for name, _ in self.named_parameters() if name.startswith("pooler.")
        }


def read_heads(model: str, revision: str | None) -> tuple[Head, dict[str, Tensor]]:
    """The settings and tensors of the head file of a folder or a hub name."""
    content = get_hf_file_bytes(HEADS_FILE, model, revision)
    if content is None:
        raise ModelFileError(Message("not_an_export", folder=model))
    size = int.from_bytes(content[:8], "little")  # the safetensors format: a JSON header after its length
    header = json.loads(content[8 : 8 + size])["__metadata__"][HEADER]
    return msgspec.json.decode(header, type=Head), load(content)
