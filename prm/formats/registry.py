"""The registry of file formats. A format is one module, whose functions register themselves with two decorators.

`@file_format("name", ...)` decorates the function that converts a decoded record to a Record, and turns it into a
`Format`. `@name.writes` decorates the function that yields the JSON objects of a Record.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Literal, Protocol

from prm.errors import FormatError
from prm.formats.raw import json_array
from prm.formats.reading import Numbered, read_documents, read_records
from prm.formats.record import Record
from prm.formats.record_traces import trace_from_file
from prm.formats.writing import About, Exporter, LabelLines, Lines, along_label, encode_lines
from prm.messages import Message
from prm.registry import Registry
from prm.scores import TraceScore
from prm.traces import Trace
from prm.vocabulary import NeutralPolicy, Split


class Reader(Protocol):
    def __call__(self, stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]: ...


Parse = Callable[[Any], Record]

Members = Callable[[Any], Iterable[Any]]
Unpack = Callable[[Trace, Record], Iterable[Trace]]
Published = Callable[[Record], Iterable[tuple[str, TraceScore]]]
Judged = Literal["steps", "prmbench", "best of n"]

TABLE = "table"
LABELS = "labels"
RECORDS = "records"  # the complete format


@dataclass
class Format:
    """How files of one format are recognised, read and written.

    `label` is its name on pages. A file whose first record has all the `keys` is in this format; a format without keys
    is recognised by other means, or chosen by name. `read` streams (line, record or rejection) after the first `skip`.

    `judged` names the measurements that such a file allows, and `split` the split of its solutions. `unpack` makes the
    traces of a record, and `published` yields the scores in a record with the name of the model. `members` are the
    records of a file that is one JSON object; None for a format without such files.
    """

    name: str
    label: str
    read: Reader
    keys: tuple[str, ...] = ()
    exporter: Exporter | None = None
    array: bool = False
    split: Split = "pool"
    judged: Judged = "steps"
    unpack: Unpack = lambda trace, record: [trace]
    published: Published | None = None
    members: Members | None = None

    def unpacks(self, unpack: Unpack) -> Unpack:
        """A decorator for the function that converts the trace that any format yields to those of this format."""
        self.unpack = unpack
        return unpack

    def publishes(self, published: Published) -> Published:
        """A decorator for the function that yields the scores in a record."""
        self.published = published
        return published

    def traces(self, record: Record, name: str) -> Iterable[Trace]:
        """The traces of a record; `name` identifies a record without an id."""
        return self.unpack(trace_from_file(record, name=name, split=self.split), record)

    def write(self, records: Iterable[Record], neutral: NeutralPolicy = "positive") -> Iterator[bytes]:
        """The bytes of a file of the records that the format can express. Raises FormatError (`not_written`)."""
        if self.exporter is None:
            raise FormatError("not_written", Message("format_not_writable", format=self.name))
        return self.exporter.write(records, neutral)

    def writes(self, **facts: Any) -> Callable[[Lines], Lines]:
        """A decorator for the function that yields the JSON objects of a record; `facts` are fields of `Exporter`.

        It yields a Loss instead if the format cannot express the record. The objects become JSON Lines, or one JSON
        array if the format is an `array`.
        """

        def decorate(lines: Lines) -> Lines:
            encode, suffix = (_encode_array, "json") if self.array else (encode_lines, "jsonl")
            self.exporter = Exporter(self.name, self.label, lines, **{"encode": encode, "suffix": suffix, **facts})
            return lines

        return decorate

    def writes_label(self, *, known_error: bool = True, **facts: Any) -> Callable[[LabelLines], LabelLines]:
        """As `writes`, for a format with one label of a solution (see `along_label`)."""

        def decorate(label_lines: LabelLines) -> LabelLines:
            self.writes(**facts)(along_label(known_error=known_error)(label_lines))
            return label_lines

        return decorate


def _encode_array(rows: Iterable[Any], about: About) -> Iterator[bytes]:
    return json_array(rows)


FORMATS: Registry[Format] = Registry(
    "stepmark.formats",
    "file format",
    built_in=[
        f"prm.formats.{module}"
        for module in (
            "prm800k", "processbench", "prmbench", "trl", "math_shepherd", "rlhflow", "mr_ben", "big_bench_mistake",
            "best_of_n", "messages", "tau_bench", "who_and_when", "atif", "swe_agent", "records", "plain",
            "label_lines", "table",
        )
    ],
)  # fmt: skip


def file_format(
    name: str,
    *,
    label: str,
    keys: tuple[str, ...] = (),
    members: Members | None = None,
    array: bool = False,
    split: Split = "pool",
    judged: Judged = "steps",
) -> Callable[[Parse], Format]:
    """A decorator that registers a format of JSON records by the function that parses one of them.

    The function raises Unreadable or msgspec.ValidationError naming the field. An `array` format is written as one JSON
    array. `members`, `split` and `judged` are as in `Format`.
    """

    def decorate(parse: Parse) -> Format:
        read: Reader = (
            partial(read_records, parse=parse)
            if members is None
            else partial(read_documents, members=members, parse=parse)
        )
        added = Format(name, label, read, keys, array=array, split=split, judged=judged, members=members)
        FORMATS.add(name, added, module=parse.__module__)
        return added

    return decorate
