"""Test databases are copies of a migrated template: each process of a run would spend 4.5 CPU s on migrations.

The embedded server stores the template between runs. Its name changes with our migrations. Django still migrates each
copy, which applies new migrations of other packages.

After a test that commits, rows are deleted from the tables that have some. Django would truncate all 65 tables, for 0.3
CPU s, and then make its content types and permissions again.

`module_db` is `db` for a fixture of a module. What that makes once is there for every test of the module, none of which
may commit: each rolls back to it, and reads instances of its own.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.commands import flush
from django.db import connection, transaction
from django.db.backends.postgresql.operations import DatabaseOperations
from pytest_django import DjangoDbBlocker

import annotation

MIGRATIONS = Path(annotation.__file__).parent / "migrations"
PREFIX = "migrated_"
OF_DJANGO = {"auth_permission", "django_content_type"}
LOCK = 0x7E57  # an advisory lock: one process of a run makes the template, the others wait


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Create test databases from the template. Other servers get no template: a run leaves nothing behind there.

    There the user may not be the superuser, whom `_delete_rows` needs, either.
    """
    if "EMBEDDED_TEST_SERVER" in os.environ:
        DatabaseOperations.sql_flush = _delete_rows
        flush.emit_post_migrate_signal = lambda *given: None
        with django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = _template()


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around the tests of a module."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


def _delete_rows(self: DatabaseOperations, style: object, tables: list[str], **options: Any) -> list[str]:
    """The statements that empty these tables, past the triggers that keep some rows unchanged."""
    tables = [self.quote_name(table) for table in tables if table not in OF_DJANGO]
    filled = ", ".join(f"('{table}', EXISTS (SELECT FROM {table}))" for table in tables)
    with self.connection.cursor() as cursor:
        cursor.execute(f"SELECT name FROM (VALUES {filled}) AS tables (name, filled) WHERE filled")
        names = [name for (name,) in cursor.fetchall()]
    return ["SET LOCAL session_replication_role = replica", *(f"DELETE FROM {name}" for name in names)]


def _template() -> str:
    """Return the name of the template, and make it if it does not exist."""
    name = PREFIX + _digest()
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
        existing = [row[0] for row in cursor.fetchall()]
        if name not in existing:
            for old in existing:
                cursor.execute(f"DROP DATABASE {old}")
            unfinished = f"{PREFIX}unfinished"
            cursor.execute(f"CREATE DATABASE {unfinished}")
            _migrate(unfinished)
            cursor.execute(f"ALTER DATABASE {unfinished} RENAME TO {name}")
    return name


def _migrate(database: str) -> None:
    own = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = database
    call_command("migrate", verbosity=0, interactive=False)
    connection.close()
    connection.settings_dict["NAME"] = own


def _digest() -> str:
    files = sorted(path for path in MIGRATIONS.rglob("*") if path.suffix in {".py", ".sql"})
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]
