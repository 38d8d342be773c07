"""The partitions of the table of pool scores: one per model version, filled by COPY and dropped whole."""

from collections.abc import Iterable

from django.db import connection, transaction
from psycopg import sql

from annotation.models import ModelVersion, PoolScore

LOCK_TIMEOUT = "5s"  # a drop waits for all readers of pool scores, and new readers wait for the drop
COLUMNS = {
    "model_version_id": "int8",
    "solution_id": "int8",
    "mean": "float8[]",
    "spread": "float8[]",
    "score": "float8",
    "gain": "float8",
    "expected_seconds": "float8",
    "heads": "bytea",
    "embedding": "bytea",
    "unscored_steps": "int4",
}
PARENT = sql.Identifier(PoolScore._meta.db_table)


def create_partition(version: ModelVersion) -> None:
    """Create the version's partition if it does not exist; one caller at a time.

    The table is created first and then attached, which blocks neither readers nor writers of other partitions.
    """
    if _exists(version):
        return
    words = {"partition": _partition(version), "parent": PARENT, "version": sql.Literal(version.pk)}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TABLE {partition} (LIKE {parent} INCLUDING ALL)").format(**words))
        cursor.execute(
            sql.SQL("ALTER TABLE {parent} ATTACH PARTITION {partition} FOR VALUES IN ({version})").format(**words)
        )


def drop_partition(version: ModelVersion) -> None:
    """Drop all scores and shards of a version.

    Raises OperationalError if a long read of pool scores blocks it; nothing is dropped then.
    """
    with transaction.atomic():
        version.pool_shards.all().delete()
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_partition(version)))


def write_scores(version: ModelVersion, scores: Iterable[PoolScore]) -> int:
    """COPY rows into the version's partition, which must exist; returns how many."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        _partition(version), sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
    )
    written = 0
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(COLUMNS.values()))
        for score in scores:
            copy.write_row([getattr(score, name) for name in COLUMNS])
            written += 1
    return written


def _exists(version: ModelVersion) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [_name(version)])
        return bool(cursor.fetchone()[0])


def _partition(version: ModelVersion) -> sql.Identifier:
    return sql.Identifier(_name(version))


def _name(version: ModelVersion) -> str:
    return f"{PoolScore._meta.db_table}_v{version.pk}"
