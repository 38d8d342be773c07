"""A backbone's plain states of token ids, without steps or heads."""

from collections.abc import Sequence

import numpy as np
import torch

from prm.backbones import Backbone
from prm.features import decode
from prm.packing import fill_batches, pack, pad


@torch.no_grad()
def last_states(backbone: Backbone, texts: Sequence[Sequence[int]], token_budget: int) -> list[bytes]:
    """The last layer's states of each text [tokens, width], as little-endian float32, row by row."""
    states = [b""] * len(texts)
    lengths = [len(text) for text in texts]
    filled = [index for index, length in enumerate(lengths) if length]
    for batch in fill_batches([lengths[index] for index in filled], token_budget, packed=backbone.packed):
        chosen = [filled[index] for index in batch]
        laid = (pack if backbone.packed else pad)([tuple(texts[index]) for index in chosen], backbone.device)
        last, _ = decode(backbone, ("last",), use_cache=False, **laid.inputs)
        rows = last.flatten(0, 1).float().cpu().numpy().astype("<f4")
        for start, index in zip(laid.starts, chosen, strict=True):
            states[index] = np.ascontiguousarray(rows[start : start + lengths[index]]).tobytes()
    return states
