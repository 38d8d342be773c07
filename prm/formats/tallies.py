"""Test results as JSON Lines: `{"id": ..., "passed": 7, "failed": 0}`, one solution a line.

`passed` may also be true or false, as HumanEval and its like write it. `errors` count as failed; `skipped` and other
keys say nothing.
"""

from collections.abc import Iterator
from typing import Annotated, BinaryIO

import msgspec

from prm.formats.raw import MAX_RECORD_BYTES
from prm.formats.reading import Unreadable, validation_fault
from prm.messages import Message

Count = Annotated[int, msgspec.Meta(ge=0)]


class Tally(msgspec.Struct):
    """How many tests of a solution passed and failed."""

    id: str
    passed: int = 0
    failed: int = 0


class _Line(msgspec.Struct):
    id: str | int
    passed: bool | Count
    failed: Count = 0
    errors: Count = 0


def read_tallies(stream: BinaryIO) -> Iterator[tuple[int, Tally | Unreadable]]:
    """Stream (line, tally, or why the line is none)."""
    decoder = msgspec.json.Decoder(_Line)
    line = 0
    while raw := stream.readline(MAX_RECORD_BYTES):
        line += 1
        if raw.isspace():
            continue
        try:
            found = decoder.decode(raw)
        except msgspec.ValidationError as error:
            yield line, Unreadable(*validation_fault(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield line, Unreadable("", Message("record_not_json", error=error))
        else:
            yield line, _tally(found)


def _tally(found: _Line) -> Tally:
    if isinstance(found.passed, bool):
        return Tally(str(found.id), int(found.passed), int(not found.passed) + found.failed + found.errors)
    return Tally(str(found.id), found.passed, found.failed + found.errors)
