"""Statements that run for every request: written once, parsed and planned once a connection.

Of a short query through the ORM most of the time goes into building its SQL and into planning it, each time anew. What
a person waits for at every step (who calls, the next task, a submission) is asked in the words below instead: the text
stays the same, its values go beside it, and PostgreSQL keeps it prepared.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from django.db import connection, models
from psycopg.rows import RowFactory, namedtuple_row, tuple_row
from psycopg.types.numeric import Int8

M = TypeVar("M", bound=models.Model)


def fetch_all(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of a statement whose values stand in it as `%(name)s`, inside the running transaction if there is one.

    JSON comes as text. Where the server cannot tell the type of a value from its place, the statement says it
    (`%(steps)s::bigint[]`). Raises what Django raises for the same fault.
    """
    return _fetch(statement, values, tuple_row)


def fetch_named(statement: str, values: Mapping[str, Any]) -> list[Any]:
    """As `fetch_all`; a row is a named tuple whose fields are the statement's column names."""
    return _fetch(statement, values, namedtuple_row)


def _fetch(statement: str, values: Mapping[str, Any], row_factory: RowFactory[Any]) -> list[Any]:
    connection.ensure_connection()
    typed = {name: _of_one_type(value) for name, value in values.items()}
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection, row_factory=row_factory) as cursor:
        cursor.execute(statement.encode(), typed, prepare=True)
        result = cursor.pgresult
        return cursor.fetchall() if result and result.nfields else []


def _of_one_type(value: Any) -> Any:
    """An integer as a bigint: by itself it goes as the smallest type that holds it, and each type is planned anew."""
    if isinstance(value, list):
        return [_of_one_type(one) for one in value]
    return Int8(value) if type(value) is int else value


def fetch_one(statement: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """The first row of a statement, None where it has none."""
    rows = fetch_all(statement, values)
    return rows[0] if rows else None


def columns(model: type[models.Model]) -> str:
    """The columns of a model for a SELECT, in the order in which `instance` reads them."""
    table = model._meta.db_table
    return ", ".join(f'"{table}"."{field.column}"' for field in model._meta.concrete_fields)


def instances(row: Sequence[Any], *kinds: type[models.Model]) -> list[Any]:
    """The models of a row that holds the `columns` of each, one after the other."""
    found, at = [], 0
    for kind in kinds:
        found.append(instance(kind, row[at:]))
        at += len(kind._meta.concrete_fields)
    return found


def instance(model: type[M], row: Sequence[Any]) -> M:
    """The model of a row of `columns`; of a longer row, of its first columns."""
    fields = model._meta.concrete_fields
    values = [
        json.loads(value) if isinstance(field, models.JSONField) and value is not None else value
        for field, value in zip(fields, row, strict=False)
    ]
    return model.from_db(connection.alias, [field.attname for field in fields], values)
