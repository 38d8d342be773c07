"""Problems that are close to a benchmark's in meaning: the cosine of mean hidden states.

The states of a language model point in similar directions for all texts, so the mean of the benchmark's is subtracted
first (Mu and Viswanath 2018, "All-but-the-top"). What counts as close depends on the model; read the pairs.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prm.backbones import Backbone, load_backbone
from prm.features import last_states

SIMILAR = 0.95
TOKENS_AT_ONCE = 8192
LONGEST = 512  # tokens of a problem


class SimilarPair(NamedTuple):
    """A problem of the data and the closest one of the benchmark."""

    id: str
    benchmark_id: str
    cosine: float


def similar_problems(
    data: Iterable[tuple[str, str]], benchmark: Iterable[tuple[str, str]], *, backbone: str
) -> list[SimilarPair]:
    """The problems with a cosine of at least SIMILAR to one of the benchmark, the most similar first.

    Both are ids and texts; of equal texts the first counts. Raises ModelFileError.
    """
    reader = load_backbone(backbone, headless=True)
    own, other = _distinct(data), _distinct(benchmark)
    if not own or not other:
        return []
    means = [_mean_states(reader, list(texts)) for texts in (own, other)]
    centre = means[1].mean(axis=0)
    left, right = (_unit(states - centre) for states in means)
    cosines = left @ right.T
    ids, benchmark_ids = list(own.values()), list(other.values())
    best = cosines.argmax(axis=1)
    pairs = [
        SimilarPair(ids[row], benchmark_ids[column], float(cosines[row, column])) for row, column in enumerate(best)
    ]
    return sorted((pair for pair in pairs if pair.cosine >= SIMILAR), key=lambda pair: -pair.cosine)


def _distinct(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for id, text in texts:
        if text.strip():
            found.setdefault(text, id)
    return found


def _mean_states(backbone: Backbone, texts: list[str]) -> NDArray[np.float32]:
    tokens = [backbone.tokenizer(text, add_special_tokens=False)["input_ids"][:LONGEST] for text in texts]
    states = last_states(backbone, tokens, TOKENS_AT_ONCE)
    return np.stack([np.frombuffer(state, dtype="<f4").reshape(-1, backbone.width).mean(axis=0) for state in states])


def _unit(states: NDArray[np.float32]) -> NDArray[np.float32]:
    return states / np.linalg.norm(states, axis=1, keepdims=True).clip(min=1e-9)
