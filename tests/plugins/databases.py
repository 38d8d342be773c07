"""Test databases are copies of a migrated template: each process of a run would spend 4.5 CPU s on migrations.

The embedded server stores the template between runs. Its name changes with our migrations. Django still migrates each
copy, which applies new migrations of other packages.
"""

import hashlib
import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

import annotation

MIGRATIONS = Path(annotation.__file__).parent / "migrations"
PREFIX = "migrated_"
LOCK = 0x7E57  # an advisory lock: one process of a run makes the template, the others wait


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Create test databases from the template. Other servers get no template: a run leaves nothing behind there."""
    if "EMBEDDED_TEST_SERVER" in os.environ:
        with django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = _template()


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
