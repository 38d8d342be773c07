"""Writes many new rows with PostgreSQL's COPY, with keys from the tables' own sequences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec
from django.db import connection, models
from psycopg import adapters, sql
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.copy import LibpqWriter
from psycopg.pq import Format
from psycopg.types.json import set_json_dumps

from annotation.core.solution_search import WordVector
from annotation.files.reading_ahead import while_waiting

Model = type[models.Model]

_encode = msgspec.json.Encoder().encode
# Materialised, because PostgreSQL would otherwise look up the sequence for each key.
RESERVE = """
WITH wanted AS MATERIALIZED (
    SELECT name, pg_get_serial_sequence(name, 'id')::regclass AS sequence, count
    FROM (VALUES {values}) AS named (name, count)
)
SELECT name, ARRAY(SELECT nextval(sequence) FROM generate_series(1, count)) FROM wanted
"""


class NewRows:
    """New rows of several tables, written in the order of the tables in `fields`.

    The fields of a table leave out those that the database fills in, such as keys that are not needed in advance. JSON
    values are plain objects. A key that is fetched but not used leaves a gap.
    """

    def __init__(self, fields: Mapping[Model, Sequence[str]]) -> None:
        self._fields = fields
        self._rows: dict[Model, list[Sequence[Any]]] = {model: [] for model in fields}
        self._keys = {model: _new_keys(model) for model in fields}

    def reserve(self, counts: Mapping[Model, int]) -> None:
        """Fetch as many keys of each model in one round trip; only keys beyond them need further ones."""
        wanted = [value for model, count in counts.items() for value in (model._meta.db_table, count)]
        with connection.cursor() as cursor:
            cursor.execute(RESERVE.format(values=", ".join(["(%s, %s)"] * len(counts))), wanted)
            reserved = dict(cursor.fetchall())
        for model in counts:
            self._keys[model] = chain(reserved[model._meta.db_table], self._keys[model])

    def key(self, model: Model) -> int:
        """A primary key for a new row of the model."""
        return next(self._keys[model])

    def keys(self, model: Model, count: int) -> list[int]:
        return list(islice(self._keys[model], count))

    def add(self, model: Model, *values: Any) -> None:
        self._rows[model].append(values)

    def write(self, lazy: Mapping[Model, Iterable[Sequence[Any]]]) -> None:
        """COPY all rows inside the running transaction, and those of `lazy`, which are made while the server writes.

        Making the rows of a table can add rows to a later table, but not fetch keys.
        """
        for model, names in self._fields.items():
            rows = chain(self._rows[model], lazy.get(model, ()))
            if (first := next(rows, None)) is not None:
                _copy(model, names, chain([first], rows))


def _new_keys(model: Model) -> Iterator[int]:
    """Yield keys, fetched in growing blocks: few round trips for many keys, few gaps for few keys."""
    block = 250
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [model._meta.db_table])
        [sequence] = cursor.fetchone()
    while True:
        with connection.cursor() as cursor:
            cursor.execute("SELECT array_agg(nextval(%s::regclass)) FROM generate_series(1, %s)", [sequence, block])
            [keys] = cursor.fetchone()
        yield from keys
        block = min(2 * block, 8000)


def _copy(model: Model, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    by_name = {field.name: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join([sql.Identifier(str(field.column)) for field in fields]),
    )
    with connection.cursor() as wrapped:
        cursor = wrapped.cursor  # Django's own `copy` takes no writer
        cursor.adapters.register_dumper(WordVector, _VectorDumper)
        set_json_dumps(_encode, cursor)
        with connection.wrap_database_errors, cursor.copy(statement, writer=_Writer(cursor)) as copy:
            copy.set_types([str(field.rel_db_type(connection)).partition("(")[0] for field in fields])
            for row in rows:
                copy.write_row(row)


class _Writer(LibpqWriter):
    """Sends rows; meanwhile a thread can read ahead."""

    def write(self, data: Buffer) -> None:
        with while_waiting():
            super().write(data)

    def finish(self, exc: BaseException | None = None) -> None:
        with while_waiting():
            super().finish(exc)


class _VectorDumper(Dumper):
    format = Format.BINARY
    oid = adapters.types["tsvector"].oid

    def dump(self, vector: WordVector) -> bytes:
        return vector
