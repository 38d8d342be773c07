"""Which formats there are, and which one a file is in."""

import re
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from annotation.errors import DomainError
from annotation.formats import (
    atif,
    best_of_n,
    big_bench_mistake,
    math_shepherd,
    messages,
    mr_ben,
    plain,
    prm800k,
    prmbench,
    processbench,
    rlhflow,
    trl,
    who_and_when,
)
from annotation.formats.reading import Numbered


class Reader(Protocol):
    def __call__(self, stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]: ...


READERS: dict[str, Reader] = {
    "prm800k": prm800k.read,
    "processbench": processbench.read,
    "prmbench": prmbench.read,
    "trl": trl.read,
    "math_shepherd": math_shepherd.read,
    "rlhflow": rlhflow.read,
    "mr_ben": mr_ben.read,
    "big_bench_mistake": big_bench_mistake.read,
    "best_of_n": best_of_n.read,
    "messages": messages.read,
    "who_and_when": who_and_when.read,
    "atif": atif.read,
    "plain": plain.read,
}
HEAD_BYTES = 256 * 1024

_MAGIC = {
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"PAR1": "in Parquet: write it as JSON Lines first",
    b"\xff\xfe": "in UTF-16: save it as UTF-8 first",
    b"\xfe\xff": "in UTF-16: save it as UTF-8 first",
}
_KEYS = {
    "prm800k": ("question", "label", "completions", "finish_reason"),
    "trl": ("prompt", "completions", "labels"),
    "prmbench": ("modified_question", "modified_process", "error_steps"),
    "mr_ben": ("Question", "Model_Solution_Steps", "Model_Solution_First_Error_Step"),
    "big_bench_mistake": ("input", "steps", "target", "mistake_index"),
    "who_and_when": ("question", "history", "mistake_step"),
    "atif": ("schema_version", "steps", "source", "agent"),
    "messages": ("messages", "role"),
    "best_of_n": ("problem_id", "candidate_index", "problem", "steps", "is_correct"),
    "rlhflow": ("conversations", "role", "content"),
    "math_shepherd": ("input", "label"),
    "processbench": ("problem", "steps", "label"),
    "plain": ("problem",),
}


def detect(head: bytes, filename: str) -> str:
    """Name of the format of a file that begins with `head` (of HEAD_BYTES, or the whole file).

    Told by the keys that its first record, or as much of it as there is, has. Raises
    DomainError("unknown_format") saying what is wrong with the file.
    """
    for magic, reason in _MAGIC.items():
        if head.startswith(magic):
            raise DomainError("unknown_format", f"{filename} is {reason}.")
    if not head.strip():
        raise DomainError("unknown_format", f"{filename} is empty.")
    keys = set(re.findall(rb'"(\w+)"\s*:', head))
    for name, wanted in _KEYS.items():
        if all(key.encode() in keys for key in wanted):
            return name
    raise DomainError(
        "unknown_format",
        f"{filename} looks like none of {', '.join(READERS)}: no record in its first lines has the keys of one. "
        "Choose the format by hand, or rename its fields.",
    )
