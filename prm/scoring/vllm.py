"""Scores over a vLLM server; the heads run in this process.

A model whose heads use only the last states of an untuned backbone, TrainConfig(lane="heads", features=("last",
"separator")) or one of the two, needs plain vLLM, which returns the last layer's state of each token:

    vllm serve BACKBONE --dtype float32 --runner pooling --convert embed \\
        --pooler-config '{"task": "token_embed", "use_activation": false}'

Any other model is exported, and this library is installed beside vLLM, where it returns the features of each step
(`prm.portable.vllm_model`):

    vllm serve EXPORTED --dtype float32 --runner pooling \\
        --hf-overrides '{"architectures": ["StepmarkProcessRewardModel"]}'

Steps are sent as token ids, so the tokens are exactly ours.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
from prm.features import Reading, describe_steps, feature_width
from prm.manifest import base_of
from prm.messages import Message
from prm.packing import fill_batches
from prm.portable.marking import Marks
from prm.scoring.scorer import Scorer
from prm.scoring.verdicts import load_readout, trained_judges
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
    """One text in the response to POST /pooling: its rows as base64 of little-endian float32."""

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
    `timeout` in seconds is for one request. Raises ModelFileError for a model that was imported from another tool, and
    ScoringError for an unexpected response.
    """
    manifest, tensors = load_model(model_dir)
    config = manifest.config
    if manifest.outside is not None:
        raise ModelFileError(Message("not_servable_by_vllm", model_dir=model_dir))
    tokenizer, shape = _tokenizer_and_shape(base_of(model_dir, manifest))
    columns = feature_width(shape.hidden_size, config.features)
    readout = load_readout(config, columns, tensors, model_dir)
    server = Server(url, api_key=api_key, timeout=timeout, retries=0, error=ScoringError)
    model = _served(server, served)
    context = min(n for n in (own_context(shape), config.context, model.max_model_len) if n is not None)
    layout = layout_of(tokenizer, config)
    common = (server, model.id, tokenizer, layout, context, config.features)
    reader: VllmReader = (
        StateReader(*common, shape.hidden_size)
        if config.lane == "heads" and SERVED.issuperset(config.features)
        else FeatureReader(*common, columns, Marks.of(layout, tokenizer.all_special_ids))
    )
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
class VllmReader(ABC):
    """A backbone on a server, which returns rows of `width` numbers. A request has at most `token_budget` tokens."""

    server: Server
    served: str
    tokenizer: Any
    layout: Layout
    context: int
    features: Sequence[Feature]
    width: int
    token_budget: int = field(default=8192, kw_only=True)

    @property
    def columns(self) -> int:
        """The number of columns of the step features."""
        return self.width

    def read(self, encoded: Sequence[Encoded]) -> Iterator[tuple[int, Tensor]]:
        """Index and step features of each item, request by request."""
        for index, item in enumerate(encoded):
            if not item.spans:
                yield index, torch.zeros(0, self.columns)
        for batch in fill_batches([len(item.ids) for item in encoded], self.token_budget, packed=True):
            yield from zip(batch, self._read([encoded[i] for i in batch]), strict=True)

    @abstractmethod
    def _read(self, items: Sequence[Encoded]) -> Iterable[Tensor]:
        """The step features of each item, in one request."""

    def _rows(self, texts: Sequence[Sequence[int]], counts: Sequence[int], task: str) -> list[Tensor]:
        """The server's rows for each text, [count, width]."""
        question = {
            "model": self.served,
            "input": texts,
            "task": task,
            "use_activation": False,  # else states are scaled to length 1, and features become scores
            "encoding_format": "base64",
            "embed_dtype": "float32",
            "endianness": "little",
        }
        answers = sorted(self.server.ask("/pooling", _Pooling, question).data, key=lambda answer: answer.index)
        if [answer.index for answer in answers] != list(range(len(texts))):
            raise ScoringError(Message("answer_count_differs", n=len(answers), url=self.server.url, asked=len(texts)))
        return [self._decoded(answer.data, count) for answer, count in zip(answers, counts, strict=True)]

    def _decoded(self, data: bytes, count: int) -> Tensor:
        if len(data) != count * self.width * 4:
            raise ScoringError(
                Message(
                    "state_size_differs",
                    url=self.server.url,
                    n=len(data),
                    rows=count,
                    expected=count * self.width * 4,
                    width=self.width,
                )
            )
        rows = torch.from_numpy(np.frombuffer(data, "<f4").reshape(count, self.width).copy())
        if not rows.isfinite().all():
            raise ScoringError(Message("states_not_finite", url=self.server.url))
        return rows


@dataclass(frozen=True)
class StateReader(VllmReader):
    """The untuned backbone in plain vLLM, which returns the last layer's state of each token."""

    @property
    def columns(self) -> int:
        return feature_width(self.width, self.features)

    def _read(self, items: Sequence[Encoded]) -> Iterable[Tensor]:
        texts = [item.ids for item in items]
        for item, states in zip(items, self._rows(texts, [len(ids) for ids in texts], "token_embed"), strict=True):
            if len(states) and ((states.norm(dim=1) - 1).abs() < NORM_TOLERANCE).all():
                start = """--pooler-config '{"use_activation": false}'"""
                raise ScoringError(Message("states_scaled", url=self.server.url, start=start))
            reading = Reading(torch.tensor(item.ids), torch.arange(len(item.ids)) - 1, states, None)
            yield describe_steps(None, reading, item.spans, self.features)


@dataclass(frozen=True)
class FeatureReader(VllmReader):
    """The exported model in a vLLM with this library, which returns the features of each step."""

    marks: Marks

    def _read(self, items: Sequence[Encoded]) -> Iterable[Tensor]:
        texts = [self.marks.mark(item) for item in items]
        return self._rows(texts, [len(item.spans) for item in items], "token_classify")


def _tokenizer_and_shape(base: str) -> tuple[Any, Any]:
    source = str(TINY) if base == "tiny" else base
    try:
        shape = AutoConfig.from_pretrained(source, trust_remote_code=False).get_text_config()
        return AutoTokenizer.from_pretrained(source, trust_remote_code=False), shape
    except (OSError, ValueError, KeyError) as error:
        raise ModelFileError(Message("backbone_error", name=base, error=str(error).strip().splitlines()[0])) from error
