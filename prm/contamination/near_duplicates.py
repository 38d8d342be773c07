"""Groups of texts that are almost the same, by MinHash with locality-sensitive hashing."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from prm.contamination.ngrams import ngram_hashes, word_hashes

SHINGLE = 5  # words
PERMUTATIONS = 128
BANDS = 16  # of 8 rows each: a pair with a similarity of 0.8 is a candidate with a probability of 0.95
SIMILARITY = 0.8

_rng = np.random.default_rng(20221)
_FACTORS = _rng.integers(1, 2**63, PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SUMMANDS = _rng.integers(0, 2**63, PERMUTATIONS, dtype=np.uint64)


class DuplicateGroup(Struct, frozen=True):
    """Texts that are near-duplicates of each other, by id, and the splits that they are in."""

    ids: list[str]
    splits: list[str]


class NearDuplicates:
    """Collects texts, about 1 KB of memory each, and groups near-duplicates."""

    def __init__(self) -> None:
        self._names: list[tuple[str, str]] = []
        self._signatures: list[NDArray[np.uint32]] = []
        self._parents: list[int] = []
        self._buckets: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def add(self, id: str, text: str, split: str) -> None:
        """Add a text; one without words is ignored."""
        shingles = np.unique(ngram_hashes(word_hashes(text), SHINGLE))
        if not len(shingles):
            return
        number = len(self._names)
        signature = _signature(shingles)
        self._names.append((id, split))
        self._signatures.append(signature)
        self._parents.append(number)
        for band, rows in enumerate(signature.reshape(BANDS, -1)):
            first = self._buckets.setdefault((band, rows.tobytes()), number)
            if first != number and self._root(first) != self._root(number):
                similarity = float((self._signatures[first] == signature).mean())
                if similarity >= SIMILARITY:
                    self._parents[self._root(number)] = self._root(first)

    def groups(self) -> list[DuplicateGroup]:
        """The groups of two or more texts, in the order of their first one."""
        members: dict[int, list[int]] = {}
        for number in range(len(self._names)):
            members.setdefault(self._root(number), []).append(number)
        return [
            DuplicateGroup([self._names[n][0] for n in group], sorted({self._names[n][1] for n in group}))
            for group in members.values()
            if len(group) > 1
        ]

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number


def _signature(shingles: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The least of each permutation of the shingles, by multiply-shift hashing (Dietzfelbinger et al. 1997)."""
    least = np.full(PERMUTATIONS, 2**32 - 1, dtype=np.uint32)
    for part in np.array_split(shingles, len(shingles) // 4096 + 1):
        hashed = (part[:, None] * _FACTORS + _SUMMANDS) >> np.uint64(32)
        least = np.minimum(least, hashed.min(axis=0).astype(np.uint32))
    return least
