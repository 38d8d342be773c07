"""Previews an import from the beginning of a file; nothing is stored."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO, cast

from annotation.core.errors import DomainError, translated_format_errors
from annotation.files.joining import join_labels
from annotation.files.opening import unpacked_head
from annotation.files.preparing import prepare_record, splitting_of
from annotation.files.record_faults import empty_steps
from annotation.files.split_preview import Division, division_of
from annotation.files.warnings import foreseen_warnings, warnings_in_words
from annotation.models import ImportOptions, Project
from prm.formats.detection import detect, holds_record
from prm.formats.mapping import Mapping
from prm.formats.raw import MAX_RECORD_BYTES
from prm.formats.record import Record, Rejection
from prm.formats.registry import FORMATS, TABLE
from prm.formats.table import Sample, csv_delimiter, fault_of, proposed, reader_of, sample
from prm.messages import Message

_DEFAULT = ImportOptions()
PREVIEW_BYTES = 2 * 1024 * 1024
LOOKED_AT = 100
SHOWN = 3


@dataclass(frozen=True)
class Preview:
    """The format, the first records with their lines, and the first lines that would be rejected.

    For a table, also its first rows (`begun`), its mapping, a sentence on what the mapping lacks, and the delimiter of
    CSV that is detected. `division` is of
    undivided solutions, None if there are none. `warnings` are about the first LOOKED_AT records. `in_question` names
    the import options that would change how these are read, because of what they have or lack.
    """

    format: str
    records: list[tuple[int, Record]]
    rejections: list[Rejection]
    begun: Sample | None = None
    mapping: Mapping | None = None
    lacks: str = ""
    delimiter: str = ""
    division: Division | None = None
    warnings: Sequence[Message] = ()
    in_question: Sequence[str] = ()


@translated_format_errors()
def preview_import(
    *,
    head: bytes,
    whole: bool,
    filename: str,
    format: str,
    decomposition: str,
    options: ImportOptions = _DEFAULT,
    tail: bytes = b"",
    size: int = 0,
    project: Project | None = None,
) -> Preview:
    """Preview a file from its first bytes, `head`, which are the `whole` file or its beginning.

    Labels are joined to the solutions of the `project`. A Parquet file that is not whole also needs its `tail` and the
    `size` of the file. Raises DomainError (`unknown_format`, `unknown_decomposition`, `unreadable_file`) if the import
    would not start.
    """
    splitting, mapping = splitting_of(decomposition, options.thinking), options.mapping
    content = unpacked_head(head, PREVIEW_BYTES)
    if head and not content:
        raise DomainError(Message("file_packing_broken", filename=filename), code="unreadable_file")
    whole = whole and len(content) < PREVIEW_BYTES
    if not whole and not tail and not holds_record(content):
        lengths = {"n": PREVIEW_BYTES // 1024 // 1024, "most": MAX_RECORD_BYTES // 1024 // 1024}
        raise DomainError(Message("first_record_long", **lengths), code="unreadable_file")
    stream = io.BytesIO(content) if whole or not tail else cast(BinaryIO, EndsOfFile(content, tail, size))
    try:
        detected = detect(stream, filename) if format == "auto" else format
        if detected not in FORMATS:
            raise DomainError(Message("no_such_format", format=format), code="unknown_format")
        begun = None
        if detected == TABLE:
            stream.seek(0)
            begun = sample(stream)
            mapping = mapping or proposed(begun)
            if lacks := fault_of(mapping, begun, needs_steps=options.no_solution == "refuse"):
                asked = () if mapping.steps else ("no_solution",)
                return Preview(detected, [], [], begun, mapping, lacks, csv_delimiter(content), in_question=asked)
        stream.seek(0)
        items = list(islice(reader_of(detected, mapping)(stream), LOOKED_AT))
    except OSError as error:
        raise DomainError(
            Message("file_not_readable", filename=filename, strerror=error.strerror or error), code="unreadable_file"
        ) from None
    if not whole and len(items) < LOOKED_AT and items and isinstance(items[-1][1], Rejection):
        items.pop()  # cut off at the end of the head
    texts = [item.solution_text for _, item in items if isinstance(item, Record) and item.solution_text]
    division = division_of(texts, splitting)
    in_question = _in_question([item for _, item in items if isinstance(item, Record)], division)
    read = [(line, prepare_record(line, item, splitting, options)) for line, item in items]
    prepared = [(line, item) for line, item in read if isinstance(item, Record)]
    joined = join_labels(project, prepared)
    records = [(line, item) for (line, _), item in zip(prepared, joined, strict=True) if isinstance(item, Record)]
    rejections = [item for item in [*(item for _, item in read), *joined] if isinstance(item, Rejection)]
    return Preview(
        detected,
        records[:SHOWN],
        rejections[:SHOWN],
        begun,
        mapping,
        delimiter=csv_delimiter(content) if begun else "",
        division=division,
        warnings=warnings_in_words(foreseen_warnings([record for _, record in records], whole=whole)),
        in_question=in_question,
    )


def _in_question(records: Sequence[Record], division: Division | None) -> list[str]:
    """The names of the options that change how these records, as read from the file, are imported."""
    concerned = {
        "decomposition": division is not None,
        "thinking": division is not None and division.thinking > 0,
        "empty_steps": any(empty_steps(record) for record in records),
        "no_solution": any(record.is_problem_only for record in records),
        "labelled_by": any(record.annotations for record in records),
    }
    return [name for name, is_concerned in concerned.items() if is_concerned]


class EndsOfFile(io.RawIOBase):
    """A file of which only the beginning and the end are known; reading between them raises OSError."""

    def __init__(self, head: bytes, tail: bytes, size: int) -> None:
        self._head, self._tail, self._size, self._at = head, tail, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._at + size)
        start, from_tail = self._at, self._at - (self._size - len(self._tail))
        if end > len(self._head) and from_tail < 0:
            raise OSError("its first rows are too far from its beginning to be previewed")
        self._at = max(start, end)
        return self._head[start:end] if end <= len(self._head) else self._tail[from_tail : from_tail + end - start]
