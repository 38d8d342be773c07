"""Texts as 64-bit hashes of their runs of n words."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

# Scripts without spaces between words have a word for each character: Chinese, Japanese, Korean, Thai.
_SPACELESS = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+")
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it loses no bits


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; numbers are words."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def word_hashes(text: str) -> Hashes:
    """The hash of each word of a text."""
    return np.array([_hash(word) for word in words_of(text)], dtype=np.uint64)


def ngram_hashes(words: Hashes, n: int) -> Hashes:
    """The hash of each run of `n` words; a shorter text is one run, an empty one has none."""
    if not len(words):
        return words
    if len(words) < n:
        return _runs(words, len(words)) ^ np.uint64(len(words))
    return _runs(words, n)


def text_fingerprint(words: Hashes) -> int:
    """A hash of all words in order; equal for texts that differ only in case, spaces and punctuation."""
    return int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little")


class NgramIndex:
    """The n-grams of many texts, 12 bytes each; `owners` are the numbers of the texts."""

    def __init__(self, texts: Sequence[Hashes], n: int) -> None:
        self.n = n
        runs = [np.unique(ngram_hashes(words, n)) for words in texts]
        owners = [np.full(len(run), number, dtype=np.uint32) for number, run in enumerate(runs)]
        hashes = np.concatenate(runs) if runs else np.array([], dtype=np.uint64)
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._owners = (np.concatenate(owners) if owners else np.array([], dtype=np.uint32))[order]

    def overlap(self, words: Hashes) -> tuple[float, int | None]:
        """The share of a text's n-grams that occur in the index, and the first text that has one of them."""
        runs = ngram_hashes(words, self.n)
        if not len(runs) or not len(self._hashes):
            return 0.0, None
        places = np.searchsorted(self._hashes, runs).clip(max=len(self._hashes) - 1)
        shared = self._hashes[places] == runs
        if not shared.any():
            return 0.0, None
        return float(shared.mean()), int(self._owners[places[shared.argmax()]])


@lru_cache(maxsize=2**16)
def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def _runs(words: Hashes, n: int) -> Hashes:
    total = np.zeros(len(words) - n + 1, dtype=np.uint64)
    for place in range(n):
        total = total * _BASE + words[place : len(words) - n + 1 + place]
    return total
