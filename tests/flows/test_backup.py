"""The operator guide's commands for backup and restore, run as they stand there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from annotation.models import Annotation
from config.env import BASE_DIR
from launch.embedded import servers
from launch.ownership import sole_owner
from launch.postgres import binaries
from tests.factories import AnnotationFactory
from tests.processes import started_with
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = (BASE_DIR / "docs" / "guides" / "operator.md").read_text()
FILES = {
    "secret_key": "the key of the sessions",
    "models/1/model.safetensors": "weights",
    "runs/7/checkpoint": "half of a training",
    "snapshots/1.jsonl": "labels",
    "uploads/a b/0": "pieces of a file",
}


def commands(heading: str) -> str:
    """The shell commands under a heading of the guide."""
    [section] = re.findall(rf"^### {heading}\n(.*?)(?=^##)", GUIDE, re.MULTILINE | re.DOTALL)
    [block] = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return block


@pytest.fixture
def var(tmp_path):
    """The data folder of an installation whose database is that of the test."""
    var = tmp_path / "data folder"
    for name, text in FILES.items():
        (var / name).parent.mkdir(parents=True, exist_ok=True)
        (var / name).write_text(text)
    for unwanted in ("postgres/PG_VERSION", "redis/dump", "log/web.log", "run/supervisord.conf"):
        (var / unwanted).parent.mkdir()
        (var / unwanted).touch()
    (var / "servers.env").write_text(f"DATABASE_URL='{database_url()}'\n")
    return var


def database_url() -> str:
    database = connection.settings_dict
    return make_conninfo(
        dbname=database["NAME"], user=database["USER"], host=database["HOST"],
        password=database["PASSWORD"] or None, port=database["PORT"] or None,
    ).replace("'", "")  # fmt: skip


@pytest.fixture
def labels():
    """The labels that must come back, as rows."""
    AnnotationFactory.create_batch(3)
    return labels_in(database_url())


@pytest.fixture
def run(tmp_path, var):
    """Runs a block of commands as a careful shell does."""
    environment = os.environ | {
        "VAR_DIR": str(var), "BACKUP": str(tmp_path / "backup"), "DATABASE_URL": "", "REDIS_URL": "",
        "DJANGO_SETTINGS_MODULE": "config.settings.local",
    }  # fmt: skip

    def run(heading: str, **changes: str) -> None:
        outcome = subprocess.run(
            ["/bin/sh", "-eu", "-c", commands(heading)], cwd=BASE_DIR, env=environment | changes,
            capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip
        assert outcome.returncode == 0, outcome.stdout + outcome.stderr

    return run


def labels_in(address: str) -> list[tuple[object, ...]]:
    with psycopg.connect(address) as session:
        return session.execute(f"SELECT * FROM {Annotation._meta.db_table} ORDER BY id").fetchall()


def assert_restored(var: Path) -> None:
    assert {name: (var / name).read_text() for name in FILES} == FILES
    assert not (var / "log" / "web.log").exists()


def test_labels_and_files_of_make_run_come_back(run, var, labels):
    assert len(labels) == 3
    run("Back up `make run`")
    shutil.rmtree(var)
    run("Restore `make run`")
    until(lambda: started_with(var) == [])
    assert_restored(var)
    with sole_owner(var), servers(var, external={}) as addresses:
        assert labels_in(addresses["DATABASE_URL"]) == labels


DOCKER = """#!/bin/sh -eu
# Runs here what `docker compose` would run in a container.
shift
case "$1" in
    exec) shift 3 ;;
    run) shift 5 ;;
    up) exit 0 ;;
esac
for argument; do
    shift
    case "$argument" in
        --directory=/data) argument="--directory=$DATA" ;;
    esac
    set -- "$@" "$argument"
done
exec "$@"
"""


def test_labels_and_files_of_compose_come_back(run, var, tmp_path, labels):
    """With a `docker` that runs the containers' commands here, on an embedded server."""
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    path = f"{docker.parent}:{binaries()}:{os.environ['PATH']}"
    for part in ("postgres", "redis", "log", "run"):
        shutil.rmtree(var / part)
    with servers(tmp_path / "containers", external={"REDIS_URL": settings.REDIS_URL}, durable=False) as addresses:
        copy = conninfo_to_dict(addresses["DATABASE_URL"])
        # The volume's database has the name that the guide gives; the test's has one of its own.
        dump = subprocess.run(
            [str(binaries() / "pg_dump"), "--format=custom", database_url()], check=True, capture_output=True
        ).stdout
        restore = [
            str(binaries() / "pg_restore"),
            "--no-owner",
            "--exit-on-error",
            "--dbname",
            addresses["DATABASE_URL"],
        ]
        subprocess.run(restore, input=dump, check=True)
        container = {"PATH": path, "DATA": str(var), "PGHOST": str(copy["host"])}
        run("Back up `docker compose`", **container)
        shutil.rmtree(var)
        var.mkdir()
        with psycopg.connect(addresses["DATABASE_URL"], autocommit=True) as session:
            session.execute("DROP SCHEMA public CASCADE")
            session.execute("CREATE SCHEMA public")
        run("Restore `docker compose`", **container)
        assert_restored(var)
        assert labels_in(addresses["DATABASE_URL"]) == labels
