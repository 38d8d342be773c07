"""Which formats there are, and which one a file is in."""

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, Protocol

import msgspec

from prm.errors import FormatError
from prm.formats import (
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
    swe_agent,
    table,
    trl,
    who_and_when,
)
from prm.formats.mapping import Mapping
from prm.formats.parquet_rows import MAGIC
from prm.formats.reading import Numbered, original_records
from prm.messages import Message


class Reader(Protocol):
    def __call__(self, stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]: ...


TABLE = "table"
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
    "swe_agent": swe_agent.read,
    "plain": plain.read,
    TABLE: table.read,
}
HEAD_BYTES = 256 * 1024

_MAGIC = {
    b"PK\x03\x04": Message("packed_as_zip"),
    b"\xff\xfe": Message("packed_as_utf16"),
    b"\xfe\xff": Message("packed_as_utf16"),
}
_KEYS = {
    "prm800k": ("question", "label", "completions", "finish_reason"),
    "trl": ("prompt", "completions", "labels"),
    "prmbench": ("modified_question", "modified_process", "error_steps"),
    "mr_ben": ("Question", "Model_Solution_Steps", "Model_Solution_First_Error_Step"),
    "big_bench_mistake": ("input", "steps", "target", "mistake_index"),
    "who_and_when": ("question", "history", "mistake_step"),
    "atif": ("schema_version", "steps", "source", "agent"),
    "swe_agent": ("trajectory", "info", "action", "observation"),
    "messages": ("messages", "role"),
    "best_of_n": ("problem_id", "candidate_index", "problem", "steps", "is_correct"),
    "rlhflow": ("conversations", "role", "content"),
    "math_shepherd": ("input", "label"),
    "processbench": ("problem", "steps", "label"),
}


def reader_of(format: str, mapping: Mapping | None) -> Reader:
    """The reader of a format; a table is read by the mapping."""
    return partial(table.read, mapping=mapping) if format == TABLE else READERS[format]


def originals_of(format: str, mapping: Mapping | None) -> Callable[[BinaryIO], Iterator[bytes | None]]:
    """What gives the records of a file as it has them, in the order in which its reader numbers them."""
    return partial(table.original_rows, mapping=mapping or Mapping()) if format == TABLE else original_records


def detect(stream: BinaryIO, filename: str) -> str:
    """Name of the format of a file, by its first records.

    Told by the keys that its first record, or as much of it as there is, has; of CSV and Parquet by their columns.
    Raises FormatError("unknown_format") saying what is wrong with the file, OSError where it cannot be read.
    """
    head = stream.read(HEAD_BYTES)
    for magic, reason in _MAGIC.items():
        if head.startswith(magic):
            raise FormatError("unknown_format", Message("file_packed", filename=filename, reason=reason))
    if not head.strip():
        raise FormatError("unknown_format", Message("file_has_no_content", filename=filename))
    begun = table.sample(stream if head.startswith(MAGIC) else io.BytesIO(), head)
    keys = set(re.findall(rb'"(\w+)"\s*:', msgspec.json.encode(begun.rows) if head.startswith(MAGIC) else head))
    for name, wanted in _KEYS.items():
        if all(key.encode() in keys for key in wanted) and not table.is_csv(head):
            return name
    mapping = table.proposed(begun)
    if b"problem" in keys and {b"steps", b"solution"} & keys and not mapping.labels and not table.is_csv(head):
        return "plain"
    if not table.fault_of(mapping, begun):
        return TABLE
    raise FormatError("unknown_format", Message("format_not_recognised", filename=filename, known=", ".join(READERS)))
