"""Runs SQL statements that PostgreSQL parses and plans once per connection.

A short query through the ORM spends most of its time on building and planning its SQL. Statements that a person waits
for at every step (the caller, the next task, a submission) therefore have a constant text with parameters, so that they
stay prepared.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL
from psycopg.rows import RowFactory, namedtuple_row, tuple_row
from psycopg.types.numeric import Int8

M = TypeVar("M", bound=models.Model)
PARAMETER = re.compile(r"%\((\w+)\)s")

# A part of a SELECT, after which the commit of the transaction does not wait for the disk.
WITHOUT_FLUSH = "set_config('synchronous_commit', 'off', true)"
# A part of a SELECT, whose commit waits until this and all earlier commits are on the disk.
FLUSH = "pg_logical_emit_message(true, 'stepmark', '')"


def fetch_all(statement: str, values: Mapping[str, Any], *, binary: bool = False) -> list[tuple[Any, ...]]:
    """The rows of a statement with parameters such as `%(name)s`, run in the current transaction if there is one.

    A `jsonb` is returned as text, a `json` as its value. If the server cannot infer the type of a parameter, the
    statement casts it (`%(steps)s::bigint[]`). `binary` is faster for many rows, but returns a `jsonb` as its value.
    Raises Django's database errors.
    """
    return _fetch(statement, values, tuple_row, binary)


def fetch_named(statement: str, values: Mapping[str, Any], *, binary: bool = False) -> list[Any]:
    """As `fetch_all`, with rows as named tuples, whose fields are the names of the columns."""
    return _fetch(statement, values, namedtuple_row, binary)


def _fetch(statement: str, values: Mapping[str, Any], row_factory: RowFactory[Any], binary: bool) -> list[Any]:
    database = connections[DEFAULT_DB_ALIAS]  # each attribute of `connection` would look it up
    database.ensure_connection()
    numbered, names = _numbered(statement)
    typed = [_of_one_type(values[name]) for name in names]
    with database.wrap_database_errors, psycopg.RawCursor(database.connection, row_factory=row_factory) as cursor:
        cursor.execute(numbered, typed, prepare=True, binary=binary)
        result = cursor.pgresult
        return cursor.fetchall() if result and result.nfields else []


@lru_cache(maxsize=1024)
def _numbered(statement: str) -> tuple[bytes, list[str]]:
    """The statement as the server reads it, with `$1`, `$2`, and the names of these parameters.

    psycopg would replace the names at each call of a statement of more than 4,096 bytes.
    """
    names = list(dict.fromkeys(PARAMETER.findall(statement)))
    return PARAMETER.sub(lambda found: f"${names.index(found[1]) + 1}", statement).encode(), names


def _of_one_type(value: Any) -> Any:
    """Integers as bigint: psycopg would choose the smallest type for each, and each type needs a plan of its own.

    A list of integers becomes the text of an array, because psycopg would convert them one by one.
    """
    if isinstance(value, list) and {int}.issuperset(map(type, value)):
        return _array(value)
    return Int8(value) if type(value) is int else value


def _array(integers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, integers)) + "}"


def unnest_ids(ids: Iterable[int]) -> RawSQL:
    """A subquery with these ids, for a queryset that a list of many ids would slow down."""
    return RawSQL("SELECT unnest(%s::bigint[])", [_array(ids)])


def fetch_one(statement: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row of a statement; None if it has no rows."""
    rows = fetch_all(statement, values)
    return rows[0] if rows else None


def flush() -> None:
    """Wait until all earlier commits are on the disk; in a transaction, let its own commit wait."""
    fetch_all(f"SELECT {FLUSH}", {})


def columns(model: type[models.Model]) -> str:
    """The columns of a model for a SELECT, in the order in which `instance` reads them."""
    table = model._meta.db_table
    return ", ".join(f'"{table}"."{field.column}"' for field in model._meta.concrete_fields)


def instances(row: Sequence[Any], *kinds: type[models.Model]) -> list[Any]:
    """The models of a row that holds the `columns` of each, one after the other."""
    models_of_row, at = [], 0
    for kind in kinds:
        models_of_row.append(instance(kind, row[at:]))
        at += len(kind._meta.concrete_fields)
    return models_of_row


def instance(model: type[M], row: Sequence[Any]) -> M:
    """The model of a row of `columns`. Further columns of the row are ignored; missing ones are fetched when used."""
    names, json_names = _attributes(model)
    row_of_model = model.__new__(model)
    # What `Model.from_db` does, without its signals and its loop over the fields.
    state = row_of_model.__dict__
    state["_state"] = ModelState()
    state.update(zip(names, row, strict=False))
    for name in json_names:
        if state[name] is not None:
            state[name] = json.loads(state[name])
    row_of_model._state.adding, row_of_model._state.db = False, DEFAULT_DB_ALIAS
    return row_of_model


@cache
def _attributes(model: type[models.Model]) -> tuple[list[str], list[str]]:
    """The names of a model's attributes in the order of its columns, and those that hold JSON."""
    fields = model._meta.concrete_fields
    return [field.attname for field in fields], [f.attname for f in fields if isinstance(f, models.JSONField)]
