"""Attention over a packed row of several documents, causal and within each document only.

On CUDA in half precision, one variable-length kernel computes it. Elsewhere it is one scaled dot product for each run
of documents of equal length, which on a CPU costs a fraction of a block mask over the whole row. Sliding windows and
soft-capped scores follow each family's definition, so packed states equal those of the document alone.
"""

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

ATTENTION = "stepmark"
PACKED_FAMILIES = frozenset(
    {"cohere", "gemma", "gemma2", "gemma3_text", "gpt_neox", "granite", "llama", "mistral", "mixtral", "phi", "phi3"}
    | {"qwen2", "qwen2_moe", "qwen3", "qwen3_moe"}
)  # tested: in these, only attention passes information between tokens
VARLEN_SIZES = 256  # the largest head size of the variable-length kernel


@dataclass(frozen=True)
class Documents:
    """The lengths of the documents in a packed row; `bounds` is int32 [documents + 1] on the row's device."""

    lengths: tuple[int, ...]
    bounds: Tensor
    longest: int

    @classmethod
    def of(cls, lengths: list[int], device: torch.device) -> "Documents":
        bounds = torch.tensor([0, *lengths]).cumsum(0).to(device, torch.int32)
        return cls(tuple(lengths), bounds, max(lengths))


def route_attention(model: Any) -> bool:
    """Use `attend` for the model's attention, which does not change batches that are not packed.

    Returns False and does nothing if the family is not known to pack exactly.
    """
    if model.get_decoder().config.model_type not in PACKED_FAMILIES:
        return False
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(ATTENTION, attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)
    model.set_attn_implementation(ATTENTION)
    return True


def attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    documents: Documents | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """The attention function of `transformers`: query [rows, heads, tokens, size] to [rows, tokens, heads, size].

    With `documents` the row is packed and the mask is ignored. There is no dropout: a backbone is trained as it is
    served.
    """
    query, key = query.to(value.dtype), key.to(value.dtype)  # under autocast, rotary embeddings widen them
    if documents is not None:
        states = _attend_packed(query, key, value, documents, scaling, sliding_window, softcap)
        return states, None
    if softcap is not None:
        return _soft_capped(query, key, value, attention_mask, scaling, softcap).transpose(1, 2), None
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    others.pop("dropout", None)
    return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **others)


def _attend_packed(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    documents: Documents,
    scaling: float | None,
    window: int | None,
    softcap: float | None,
) -> Tensor:
    query, key, value = (states.squeeze(0).transpose(0, 1) for states in (query, key, value))  # [tokens, heads, size]
    if softcap is None and _has_varlen(value):
        from torch.nn.attention.varlen import varlen_attn

        states: Any = varlen_attn(
            query,
            key,
            value,
            documents.bounds,
            documents.bounds,
            documents.longest,
            documents.longest,
            scale=scaling,
            window_size=(-1 if window is None else window - 1, 0),
            enable_gqa=query.shape[1] != key.shape[1],
        )
        return states.unsqueeze(0)
    return _by_document(query, key, value, documents.lengths, scaling, window, softcap).unsqueeze(0)


def _has_varlen(value: Tensor) -> bool:
    return (
        value.is_cuda
        and value.dtype in (torch.bfloat16, torch.float16)
        and value.shape[-1] <= VARLEN_SIZES
        and value.shape[-1] % 8 == 0
        and torch.cuda.get_device_capability(value.device) >= (8, 0)
    )


@cache
def keep_out_of_compiled_layers() -> None:
    """Call attention by document as it is from compiled layers. As a decorator this would import torch's compiler, for
    more than a second, into every process that scores."""
    global _by_document
    _by_document = torch.compiler.disable(_by_document)


def _by_document(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    lengths: tuple[int, ...],
    scaling: float | None,
    window: int | None,
    softcap: float | None,
) -> Tensor:
    """Attention of [tokens, heads, size] within documents, for neighbours of equal length together."""
    runs = [(length, len(list(same))) for length, same in groupby(lengths)]
    parts = [states.split([length * count for length, count in runs]) for states in (query, key, value)]
    parts_read = []
    for (length, count), *states in zip(runs, *parts, strict=True):
        # [documents, heads, length, size]
        q, k, v = (part.unflatten(0, (count, length)).transpose(1, 2) for part in states)
        banded = None
        if window is not None and length > window:  # a query sees itself and the `window` - 1 tokens before it
            banded = torch.ones(length, length, dtype=torch.bool, device=q.device).tril().triu(1 - window)
        if softcap is not None:
            mixed = _soft_capped(q, k, v, banded, scaling, softcap)
        else:
            mixed = scaled_dot_product_attention(
                q, k, v, banded, is_causal=banded is None, scale=scaling, enable_gqa=q.shape[1] != k.shape[1]
            )
        parts_read.append(mixed.transpose(1, 2).flatten(0, 1))
    return torch.cat(parts_read)


def _soft_capped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scaling: float | None, softcap: float
) -> Tensor:
    """Attention whose scores s become softcap tanh(s / softcap) (Gemma 2, section 2), [rows, heads, tokens, size].

    `mask` is Boolean or additive; without one a query attends to no later key.
    """
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    scores = torch.tanh(scores / softcap) * softcap
    if mask is None:
        mask = torch.ones(scores.shape[2:], dtype=torch.bool, device=scores.device)
        mask = mask.tril(scores.shape[3] - scores.shape[2])
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1, dtype=torch.float32).to(value.dtype) @ value
