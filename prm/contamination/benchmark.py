"""The text of a benchmark file, indexed by n-grams."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from prm.contamination.ngrams import Hashes, NgramIndex, text_fingerprint, word_hashes
from prm.errors import DataError
from prm.formats.trace_files import read_traces
from prm.manifest import file_sha256
from prm.messages import Message
from prm.traces import Trace

LONG_RUN = 13  # words: one shared run is an overlap
SHORT_RUN = 8
MOST = 0.7  # of the short runs


@dataclass(frozen=True)
class Match:
    """The overlap of a text with a benchmark.

    `share` is the share of its 8-grams that the benchmark has, and `owner` the number of a text that it overlaps with.
    """

    equal: bool
    any_run: bool
    share: float
    owner: int | None

    @property
    def most(self) -> bool:
        return self.equal or self.share >= MOST


class TextIndex:
    """Distinct texts, found again by any run of 13 words, by their 8-grams, or as a whole."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        """`texts` are ids and texts; of equal texts the first counts."""
        self.ids: list[str] = []
        words: list[Hashes] = []
        self._whole: dict[int, int] = {}
        for id, text in texts:
            hashed = word_hashes(text)
            if len(hashed) and self._whole.setdefault(text_fingerprint(hashed), len(words)) == len(words):
                self.ids.append(id)
                words.append(hashed)
        self._long, self._short = NgramIndex(words, LONG_RUN), NgramIndex(words, SHORT_RUN)

    def __len__(self) -> int:
        return len(self.ids)

    def match(self, words: Hashes) -> Match:
        """The overlap of a text with these."""
        whole = self._whole.get(text_fingerprint(words)) if len(words) else None
        any_run, long_owner = self._long.overlap(words)
        share, short_owner = self._short.overlap(words)
        owner = next((one for one in (whole, long_owner, short_owner) if one is not None), None)
        return Match(whole is not None, any_run > 0, share, owner)


class BenchmarkText:
    """The problems and the solutions of a benchmark; `name` and `sha256` are those of its file."""

    def __init__(self, name: str, sha256: str, traces: Iterable[Trace]) -> None:
        self.name, self.sha256 = name, sha256
        texts = [(trace.id, trace.problem, "\n".join(step.text for step in trace.steps)) for trace in traces]
        self.problems = TextIndex((id, problem) for id, problem, _ in texts)
        self.solutions = TextIndex((id, solution) for id, _, solution in texts)

    @classmethod
    def read(cls, path: Path, *, name: str = "") -> "BenchmarkText":
        """A file in any format. Raises DataError if it cannot be read or has no records."""
        text = cls(name or path.name, file_sha256(path), read_traces(path))
        if not len(text.problems):
            raise DataError(Message("file_without_records", path=name or path))
        return text
