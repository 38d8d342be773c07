"""Scores over a vLLM server, which returns the last states of the tokens; the heads run in this process.

The server runs the backbone as a pooling model that returns the last layer's state of each token:

    vllm serve BACKBONE --runner pooling --convert embed \\
        --pooler-config '{"task": "token_embed", "use_activation": false}'

It returns nothing else, so it serves only models whose heads use these states: TrainConfig(lane="heads",
features=("last", "separator")), or one of the two. Steps are sent as token ids, so the tokens are exactly ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor
from transformers import AutoConfig, AutoTokenizer

from prm.backbones import TINY, layout_of, own_context
from prm.checkpoint import load_model
from prm.config import Feature
from prm.encoding import Encoded, Layout
from prm.errors import ModelFileError, ScoringError
from prm.features import Reading, describe_steps
from prm.heads import Readout
from prm.manifest import base_of
from prm.messages import Message
from prm.packing import fill_batches
from prm.scoring.scorer import Scorer
from prm.scoring.verdicts import fill_readout, trained_judges
from prm.scoring.windows import Long
from prm.servers import Server

SERVED: frozenset[Feature] = frozenset({"last", "separator"})
NORM_TOLERANCE = 1e-3


class _Model(msgspec.Struct):
    """One of the models in the response to GET /v1/models."""

    id: str
    max_model_len: int | None = None


class _Models(msgspec.Struct):
    data: list[_Model]


class _Pooled(msgspec.Struct):
    """One text in the response to POST /pooling: the states of its tokens as base64 of little-endian float32."""

    index: int
    data: bytes


class _Pooling(msgspec.Struct):
    data: list[_Pooled]


def load_over_vllm(
    model_dir: Path,
    url: str,
    *,
    served: str | None = None,
    api_key: str | None = None,
    timeout: float = 120.0,
    long: Long = "null",
) -> Scorer:
    """A trained model whose backbone runs on the vLLM server at `url`.

    `served` is the backbone's name there, required if the server has several. The tokenizer and shape are read from the
    backbone in the model's manifest, but not its weights: the caller must ensure that the server has the same.
    `timeout` in seconds is for one request. Raises ModelFileError for a model that needs more than last states, and
    ScoringError for an unexpected response.
    """
    manifest, tensors = load_model(model_dir)
    config = manifest.config
    if config.lane != "heads" or not SERVED.issuperset(config.features):
        raise ModelFileError(
            Message("not_servable_by_vllm", model_dir=model_dir, lane=config.lane, features=", ".join(config.features))
        )
    tokenizer, shape = _tokenizer_and_shape(base_of(model_dir, manifest))
    width = shape.hidden_size
    readout = fill_readout(Readout(config, width * len(config.features)), tensors, model_dir)
    server = Server(url, api_key=api_key, timeout=timeout, retries=0, error=ScoringError)
    model = _served(server, served)
    context = min(n for n in (own_context(shape), config.context, model.max_model_len) if n is not None)
    reader = VllmReader(server, model.id, tokenizer, layout_of(tokenizer, config), context, width, config.features)
    return Scorer(reader, trained_judges(readout, manifest), manifest=manifest, readout=readout, long=long)


def _served(server: Server, name: str | None) -> _Model:
    """The server's model of this name, or its only one."""
    models = server.ask("/v1/models", _Models).data
    matching = [model for model in models if name in (None, model.id)]
    if len(matching) != 1:
        names = ", ".join(model.id for model in models) or "none"
        raise ScoringError(Message("server_serves_other_model", url=server.url, names=names, served=name))
    return matching[0]


@dataclass(frozen=True)
class VllmReader:
    """A backbone on a server; `width` is the size of a state. A request has at most `token_budget` tokens."""

    server: Server
    served: str
    tokenizer: Any
    layout: Layout
    context: int
    width: int
    features: Sequence[Feature]
    token_budget: int = 8192

    def read(self, encoded: Sequence[Encoded]) -> Iterator[tuple[int, Tensor]]:
        """Index and step features of each item, request by request."""
        for index, item in enumerate(encoded):
            if not item.spans:
                yield index, torch.zeros(0, self.width * len(self.features))
        for batch in fill_batches([len(item.ids) for item in encoded], self.token_budget, packed=True):
            for index, states in zip(batch, self._states([encoded[i].ids for i in batch]), strict=True):
                item = encoded[index]
                reading = Reading(torch.tensor(item.ids), torch.arange(len(item.ids)) - 1, states, None)
                yield index, describe_steps(None, reading, item.spans, self.features)

    def _states(self, texts: list[tuple[int, ...]]) -> list[Tensor]:
        """The last layer's states of each text, [tokens, width]."""
        question = {
            "model": self.served,
            "input": texts,
            "task": "token_embed",
            "use_activation": False,  # else every state is scaled to length 1
            "encoding_format": "base64",
            "embed_dtype": "float32",
            "endianness": "little",
        }
        answers = sorted(self.server.ask("/pooling", _Pooling, question).data, key=lambda answer: answer.index)
        if [answer.index for answer in answers] != list(range(len(texts))):
            raise ScoringError(Message("answer_count_differs", n=len(answers), url=self.server.url, asked=len(texts)))
        return [self._decoded(answer.data, len(text)) for answer, text in zip(answers, texts, strict=True)]

    def _decoded(self, data: bytes, tokens: int) -> Tensor:
        if len(data) != tokens * self.width * 4:
            raise ScoringError(
                Message(
                    "state_size_differs",
                    url=self.server.url,
                    n=len(data),
                    tokens=tokens,
                    expected=tokens * self.width * 4,
                    width=self.width,
                )
            )
        states = torch.from_numpy(np.frombuffer(data, "<f4").reshape(tokens, self.width).copy())
        if not states.isfinite().all():
            raise ScoringError(Message("states_not_finite", url=self.server.url))
        if tokens and ((states.norm(dim=1) - 1).abs() < NORM_TOLERANCE).all():
            start = """--pooler-config '{"use_activation": false}'"""
            raise ScoringError(Message("states_scaled", url=self.server.url, start=start))
        return states


def _tokenizer_and_shape(base: str) -> tuple[Any, Any]:
    source = str(TINY) if base == "tiny" else base
    try:
        shape = AutoConfig.from_pretrained(source, trust_remote_code=False).get_text_config()
        return AutoTokenizer.from_pretrained(source, trust_remote_code=False), shape
    except (OSError, ValueError, KeyError) as error:
        raise ModelFileError(Message("backbone_error", name=base, error=str(error).strip().splitlines()[0])) from error
