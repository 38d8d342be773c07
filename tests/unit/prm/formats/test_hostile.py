"""Whatever stands in whatever field: a record or a rejection, never an exception, and the next record is read."""

import io
import json
import struct
from decimal import Decimal

import msgspec
import pyarrow
import pytest
from pyarrow import parquet

from annotation.files.preparing import prepare_record
from annotation.files.record_faults import MAX_POSITIONS
from prm.formats import csv_rows, table
from prm.formats.plain import plain
from prm.formats.reading import MAX_DEPTH
from prm.formats.record import Record
from prm.formats.registry import FORMATS
from prm.formats.table import reader_of
from tests.unit.prm.formats.hostile import VALUES, example, spoilt

# What is wrong with a record as a whole, so that no field can be named.
OF_THE_WHOLE = ("not valid JSON", "nested too deeply", "Expected an object", "is no object")


def reader(name, good):
    return reader_of(name, table.checked(None, table.sample(io.BytesIO(good))) if name == "table" else None)


def fault(line, item):
    """What is wrong with an item: a rejection says where and why; a record comes back from what is written of it."""
    if isinstance(item, Record):
        written = msgspec.json.decode(msgspec.json.encode(item), type=type(item))
        return None if written == item else f"written as {written}"
    named = item.field or item.reason.startswith(OF_THE_WHOLE) or item.excerpt[:1] not in ("{", "[")
    return None if named and item.reason and item.line == line else "does not say where and why"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_any_value_in_any_field_is_taken_or_refused_and_the_next_record_is_read(name):
    good = json.dumps(example(name)).encode()
    done = [("as documented", good), *(item for bad in spoilt(name) for item in (bad, ("the next one", good)))]
    items = list(reader(name, good)(io.BytesIO(b"\n".join(line for _, line in done))))
    assert [line for line, _ in items] == list(range(1, len(done) + 1))
    for (what, content), (line, read) in zip(done, items, strict=True):
        item = prepare_record(line, read, "blank_lines")
        assert not fault(line, item), f"{what}: {item} {fault(line, item)}"
        assert isinstance(item, Record) or content != good, f"{what} in line {line}: {item}"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_megabyte_in_any_field_is_taken_or_refused(name):
    good = json.dumps(example(name)).encode()
    for what, line in spoilt(name, {"a megabyte": json.dumps("x" * 1_000_000)}):
        [_, (number, read)] = reader(name, good)(io.BytesIO(good + b"\n" + line))
        item = prepare_record(number, read, "blank_lines")
        assert not fault(number, item), what


@pytest.mark.parametrize("name", ["atif", "mr_ben", "swe_agent", "who_and_when"])
def test_a_file_of_one_object_over_many_lines_is_taken_or_refused(name):
    for what, line in spoilt(name):
        for number, read in FORMATS.get(name).read(io.BytesIO(line.replace(b"{", b"{\n", 1))):
            item = prepare_record(number, read, "blank_lines")
            assert not fault(number, item), f"{what}: {item}"


def test_any_cell_of_csv_is_taken_or_refused_and_the_next_row_is_read():
    good = {name: json.dumps(cell) if isinstance(cell, list) else str(cell) for name, cell in example("table").items()}
    cells = [json.loads(value) if value[:1] == '"' else value for kind, value in VALUES.items() if "half" not in kind]
    rows = [row for name in good for cell in cells for row in (good | {name: cell}, good)]
    content = b"".join(csv_rows.write_rows([good, *rows], list(good)))
    mapping = table.checked(None, table.sample(io.BytesIO(json.dumps(example("table")).encode())))
    items = list(table.read(io.BytesIO(content), mapping=mapping))
    assert len(items) == len(rows) + 1
    for row, (line, item) in zip([good, *rows], items, strict=True):
        assert not fault(line, item), f"{row}: {item}"
        assert isinstance(item, Record) or row != good, f"{row}: {item}"


COLUMNS = {
    "of nothing": pyarrow.nulls(2),
    "of numbers": pyarrow.array([1, -(2**63)]),
    "of shares": pyarrow.array([float("nan"), float("inf")]),
    "of yes and no": pyarrow.array([True, None]),
    "of bytes": pyarrow.array([b"\xff\x00", b""]),
    "of texts that are none": pyarrow.StringArray.from_buffers(
        2, pyarrow.py_buffer(struct.pack("<3i", 0, 2, 5)), pyarrow.py_buffer(b"\xffaa\xed\xa0")
    ),
    "of NUL": pyarrow.array(["a\x00", "\x00"]),
    "of days": pyarrow.array([0, 10**6], pyarrow.date32()),
    "of moments": pyarrow.array([0, 2**62], pyarrow.timestamp("ns")),
    "of decimals": pyarrow.array([Decimal("9" * 38), None]),
    "of lists": pyarrow.array([[[None]], []]),
    "of objects": pyarrow.array([{"a": {"": b"\xff"}}, None]),
    "of pairs": pyarrow.array([[("a", 1), ("a", 2)], None], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("name", sorted(example("table")))
def test_any_column_of_parquet_is_taken_or_refused(name, kind):
    good = json.dumps(example("table")).encode()
    mapping = table.checked(None, table.sample(io.BytesIO(good)))
    rows = pyarrow.Table.from_pylist([example("table")] * 2)
    rows = rows.set_column(rows.schema.get_field_index(name), name, COLUMNS[kind])
    file = io.BytesIO()
    parquet.write_table(rows, file)
    items = list(table.read(io.BytesIO(file.getvalue()), mapping=mapping))
    assert [line for line, _ in items] == [1, 2]
    for line, item in items:
        assert not fault(line, item), item


@pytest.mark.parametrize(("levels", "taken"), [(MAX_DEPTH - 1, True), (MAX_DEPTH, False), (10_000, False)])
def test_values_nest_so_deep_and_no_deeper(levels, taken):
    """The bound is the same for every reader and worker, whatever else is on Python's stack."""
    line = b'{"problem": "p", "steps": ["a"], "x": ' + b"[" * levels + b"]" * levels + b"}"
    [(_, item)] = plain.read(io.BytesIO(line))
    assert isinstance(item, Record) == taken
    assert taken or item.reason == "nested too deeply"


@pytest.mark.parametrize(("steps", "taken"), [(MAX_POSITIONS, True), (MAX_POSITIONS + 1, False)])
def test_so_many_steps_are_taken_and_no_more(steps, taken):
    line = json.dumps({"problem": "p", "steps": [str(number) for number in range(steps)]}).encode()
    [(number, read)] = plain.read(io.BytesIO(line))
    item = prepare_record(number, read, "blank_lines")
    assert isinstance(item, Record) == taken
    assert taken or (item.field, item.reason) == ("steps", f"Expected at most {MAX_POSITIONS} steps, got {steps}")
