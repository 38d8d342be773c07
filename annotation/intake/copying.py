"""PostgreSQL's COPY for many new rows at once, with keys taken from the tables' own sequences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from django.db import connection, models
from psycopg import sql

Model = type[models.Model]


class NewRows:
    """Rows on their way into several tables, written in the order in which `fields` names the tables.

    The fields of a table leave out those that the database fills in, such as a key that nobody needs to
    know before. JSON values are given as they are; a key that is fetched and not used stays a gap.
    """

    def __init__(self, fields: Mapping[Model, Sequence[str]]) -> None:
        self._fields = fields
        self._rows: dict[Model, list[Sequence[Any]]] = {model: [] for model in fields}
        self._keys: dict[Model, Iterator[int]] = {}

    def key(self, model: Model) -> int:
        """A primary key for a row of the model that is about to be added."""
        if model not in self._keys:
            self._keys[model] = _new_keys(model)
        return next(self._keys[model])

    def add(self, model: Model, *values: Any) -> None:
        self._rows[model].append(values)

    def write(self) -> None:
        """COPY all rows inside the running transaction."""
        for model, names in self._fields.items():
            if self._rows[model]:
                _copy(model, names, self._rows[model])


def _new_keys(model: Model, *, block: int = 1000) -> Iterator[int]:
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [model._meta.db_table, block],
            )
            keys = cursor.fetchall()
        yield from (key for (key,) in keys)


def _copy(model: Model, names: Sequence[str], rows: list[Sequence[Any]]) -> None:
    by_name = {field.name: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    json = [number for number, field in enumerate(fields) if isinstance(field, models.JSONField)]
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(model._meta.db_table),
        sql.SQL(", ").join([sql.Identifier(str(field.column)) for field in fields]),
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            values = list(row)
            for number in json:
                values[number] = msgspec.json.encode(values[number]).decode()
            copy.write_row(values)
