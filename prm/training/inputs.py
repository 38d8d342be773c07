"""Encodes traces and computes their features, or reads both from the cache."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import torch
from torch import Tensor

from prm.backbones import Backbone
from prm.config import Feature
from prm.encoding import Encoded, encode, render_step
from prm.features import compute_features, feature_width
from prm.traces import Trace
from prm.training.caches import Cache, content_key
from prm.training.distributed import Team
from prm.training.memory import Budget

ENCODE_CHUNK = 512  # traces tokenised between two checks for a request to stop
PASSES_A_PART = 16  # passes over traces between two writes to the cache
IDS, FEATURES = "ids 1", "features 3"  # kind of a cache entry and version of its format
OnProgress = Callable[[int, int], None]  # number done and in total; may raise to stop


def encode_cached(
    traces: Sequence[Trace], backbone: Backbone, cache: Cache | None, on_progress: OnProgress
) -> list[Encoded]:
    """The traces encoded, in their order."""
    rules = tokenizer_rules(backbone)
    encoded: list[Encoded] = []
    for start in range(0, len(traces), ENCODE_CHUNK):
        part = traces[start : start + ENCODE_CHUNK]
        keys = [content_key(IDS, rules, trace.problem, *map(render_step, trace.steps)) for trace in part]
        entries = cache.get(keys) if cache else {}
        known = {key: msgspec.msgpack.decode(value, type=Encoded) for key, value in entries.items()}
        missing = {key: trace for key, trace in zip(keys, part, strict=True) if key not in known}
        fresh = encode(list(missing.values()), backbone.tokenizer, backbone.layout, backbone.context)
        computed = dict(zip(missing, fresh, strict=True))
        if cache and computed:
            cache.put({key: msgspec.msgpack.encode(item) for key, item in computed.items()})
        known |= computed
        encoded += [known[key] for key in keys]
        on_progress(len(encoded), len(traces))
    return encoded


def tokenizer_rules(backbone: Backbone) -> bytes:
    """A key of everything besides the text that a trace's ids depend on."""
    tokenizer = backbone.tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", None)
    rules = backend.to_str() if backend is not None else repr(sorted(tokenizer.get_vocab().items()))
    return content_key(type(tokenizer).__name__, rules, repr(backbone.layout), str(backbone.context))


@dataclass
class Reader:
    """Computes features with a frozen backbone, each solution once, and then reads them from the cache.

    Each of several processes computes a share. `passes` bounds the tokens of a pass; `on_read` is called with the
    lengths of the solutions just read, in tokens.
    """

    backbone: Backbone
    features: tuple[Feature, ...]
    cache: Cache | None
    team: Team
    passes: Budget
    on_read: Callable[[list[int]], None]
    on_progress: OnProgress

    def read(self, encoded: Sequence[Encoded]) -> Tensor:
        """Features of every step in trace order, [steps, width], float32 on the CPU; empty except in the leader.

        Cached values are exact. A new value may differ from a cached one by rounding, since its batch differs.
        """
        items = {self._key(item): item for item in encoded}
        known = self._from_cache(list(items))
        leaders, *others = self.team.gather(set(known))  # each machine may have a cache of its own
        missing = sorted(items.keys() - leaders.union(*others), key=lambda key: (len(items[key].ids), key))
        sizes = [len(items[key].ids) for key in missing]
        parts = self.team.from_leader(list(_parts(missing, sizes, PASSES_A_PART * self.passes.tokens)))
        done, mine = len(known), {key: rows for key, rows in known.items() if key not in leaders}
        for part in self.team.deal(parts):
            rows = self._compute([items[key] for key in part], done, len(items))
            fresh = dict(zip(part, rows, strict=True))
            if self.cache:
                self.cache.put({key: own.numpy().astype("<f4").tobytes() for key, own in fresh.items()})
            mine |= fresh
            done += len(part)
        for theirs in self.team.gather_to_leader(mine):
            known |= theirs
        all_rows = [known[self._key(item)] for item in encoded] if self.team.leads else []
        return torch.cat([torch.zeros(0, self._width), *all_rows])

    @property
    def _width(self) -> int:
        return feature_width(self.backbone.width, self.features)

    def _key(self, item: Encoded) -> bytes:
        read = msgspec.msgpack.encode((item.ids, item.spans, self.features))
        return content_key(FEATURES, self.backbone.sha256, str(self.backbone.compute), read)

    def _from_cache(self, keys: list[bytes]) -> dict[bytes, Tensor]:
        known: dict[bytes, Tensor] = {}
        if self.cache is None:
            return known
        for part in _parts(keys, [1] * len(keys), ENCODE_CHUNK):
            for key, value in self.cache.get(part).items():
                known[key] = torch.from_numpy(np.frombuffer(value, dtype="<f4").reshape(-1, self._width).copy())
            self.on_progress(len(known), len(keys))
        return known

    def _compute(self, items: list[Encoded], done: int, of: int) -> tuple[Tensor, ...]:
        rows = self.passes.attempt(
            lambda tokens: compute_features(
                self.backbone, items, tokens, self.features, lambda ready: self.on_progress(done + ready, of)
            )
        )
        self.on_read([len(item.ids) for item in items])
        return rows.split([len(item.spans) for item in items])


def _parts(keys: list[bytes], sizes: list[int], limit: int) -> Iterator[list[bytes]]:
    """Consecutive parts of the keys, each of total size at most `limit` or with one key."""
    part: list[bytes] = []
    total = 0
    for key, size in zip(keys, sizes, strict=True):
        if part and total + size > limit:
            yield part
            part, total = [], 0
        part.append(key)
        total += size
    if part:
        yield part
