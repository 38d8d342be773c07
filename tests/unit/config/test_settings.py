"""Settings of production refuse what is missing, and addresses are read the same way everywhere."""

import json
import os
import re
import secrets
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from config import env
from config.env import BASE_DIR

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.production",
    "SECRET_KEY": "a-long-random-text-of-more-than-fifty-characters-0123456789",
    "ALLOWED_HOSTS": "labels.example.org",
}


def check_production(**changes):
    environment = {name: value for name, value in (os.environ | PRODUCTION | changes).items() if value is not None}
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True)


def test_production_passes_the_deployment_checks():
    outcome = check_production(HSTS_SECONDS="31536000")
    allowed = {"security.W005", "security.W021"}  # subdomains and preloading are the operator's to choose
    warned = {word.strip("?:()") for word in outcome.stderr.split() if word.startswith("(security.")}
    assert warned <= allowed, outcome.stderr


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-c", "import config.wsgi"]])
def test_production_reports_all_that_is_missing_or_wrong_at_once(command):
    wrong = {"SECRET_KEY": None, "ALLOWED_HOSTS": None, "REDIS_URL": "", "DATABASE_URL": "mysql://host/name"}
    wrong |= {"IMPORT_ROOTS": "[]", "EXPORT_ROOTS": "[]", "POLICY_ENDPOINTS": "{"}
    environment = {name: value for name, value in (os.environ | PRODUCTION | wrong).items() if value is not None}
    outcome = subprocess.run([sys.executable, *command], cwd=BASE_DIR, env=environment, capture_output=True, text=True)
    assert outcome.returncode == 3
    said = outcome.stderr.splitlines()
    assert said[0] == "Stepmark cannot start. Correct these settings:"
    for name in (*wrong, "ALLOWED_HOSTS is not set.", "REDIS_URL is not set.", "SECRET_KEY is not set. Make one: "):
        assert sum(name in line for line in said) == 1, (name, said)
    assert "Traceback" not in outcome.stderr


def test_a_command_without_a_server_says_so_in_one_line(tmp_path):
    environment = os.environ | {"VAR_DIR": str(tmp_path), "DATABASE_URL": ""}
    environment |= {"DJANGO_SETTINGS_MODULE": "config.settings.local"}
    command = [sys.executable, "manage.py", "check"]
    outcome = subprocess.run(command, cwd=BASE_DIR, env=environment, capture_output=True, text=True)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("DATABASE_URL is not set and no embedded server is running: start Stepmark")
    assert outcome.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ("short", "has 5 characters; it needs at least 32"),
        ("ab" * 40, "has 2 different characters; it needs at least 10"),
        ("django-insecure-8x)2m$k0qv!7w3z^e5r1t9y4u6i", "is a sample"),
        ("please-CHANGEME-before-you-go-to-production-1234567890", "is a sample"),
    ],
)
def test_a_weak_secret_key_is_refused_without_being_quoted(key, fault):
    assert env.secret_key_fault(key).startswith(f"SECRET_KEY {fault}.")
    assert key not in env.secret_key_fault(key)


def test_keys_of_the_usual_makers_are_taken():
    for key in (secrets.token_urlsafe(50), secrets.token_hex(32), get_random_secret_key()):
        assert env.secret_key_fault(key) == ""


@pytest.mark.parametrize("hosts", ["", "labels.example.org"])
def test_local_settings_always_answer_on_this_machine(hosts):
    """`make run` asks itself whether it is healthy."""
    program = "from django.conf import settings; print(settings.ALLOWED_HOSTS)"
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.local", "ALLOWED_HOSTS": hosts}
    outcome = subprocess.run([sys.executable, "-c", program], cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE)
    assert b"'localhost'" in outcome.stdout


def test_database_address_with_a_socket(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://stepmark@/stepmark?host=%2Frun%2Fs")
    monkeypatch.delenv("DATABASE_POOL", raising=False)
    entry = env.databases()["default"]
    assert (entry["NAME"], entry["USER"], entry["HOST"]) == ("stepmark", "stepmark", "/run/s")
    assert entry["CONN_HEALTH_CHECKS"] is True
    assert "pool" not in entry["OPTIONS"]


def test_pool_only_where_asked_for(monkeypatch):
    monkeypatch.setenv("DATABASE_POOL", "8")
    entry = env.databases()["default"]
    assert entry["OPTIONS"]["pool"]["max_size"] == 8
    assert "CONN_MAX_AGE" not in entry


def test_only_the_web_goes_through_a_pooler_and_prepares_nothing_there(monkeypatch):
    monkeypatch.setenv("PGBOUNCER_URL", "postgresql://stepmark@pooler:6432/stepmark")
    monkeypatch.delenv("DATABASE_POOL", raising=False)
    own = env.databases()["default"]
    assert (own["TRANSACTION_POOLING"], own["OPTIONS"]["prepare_threshold"]) == (False, 5)
    monkeypatch.setenv("DATABASE_POOL", "8")
    shared = env.databases()["default"]
    assert (shared["HOST"], shared["PORT"], shared["TRANSACTION_POOLING"]) == ("pooler", "6432", True)
    assert shared["OPTIONS"]["prepare_threshold"] is None
    monkeypatch.setenv("PGBOUNCER_URL", "mysql://pooler")
    with pytest.raises(ImproperlyConfigured, match="PGBOUNCER_URL is not a PostgreSQL address"):
        env.databases()["default"]


def test_a_replica_is_another_database_that_must_answer_soon(monkeypatch):
    monkeypatch.delenv("DATABASE_REPLICA_URL", raising=False)
    assert list(env.databases()) == ["default"]
    monkeypatch.setenv("DATABASE_REPLICA_URL", "postgresql://stepmark@second/stepmark?connect_timeout=1")
    monkeypatch.setenv("PGBOUNCER_URL", "postgresql://stepmark@pooler:6432/stepmark")
    monkeypatch.setenv("DATABASE_POOL", "8")
    primary, replica = env.databases().values()
    assert (primary["HOST"], primary["TRANSACTION_POOLING"]) == ("pooler", True)
    assert (replica["HOST"], replica["TRANSACTION_POOLING"]) == ("second", False)
    assert (replica["OPTIONS"]["pool"]["timeout"], replica["OPTIONS"]["connect_timeout"]) == (2, "1")
    monkeypatch.setenv("DATABASE_REPLICA_URL", "mysql://second")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_REPLICA_URL is not a PostgreSQL address"):
        env.databases()


def test_address_that_is_none(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "mysql://host/name")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL is not a PostgreSQL address"):
        env.databases()["default"]


def test_missing_address_says_what_to_do(monkeypatch):
    monkeypatch.delenv("REDIS_URL")
    with pytest.raises(ImproperlyConfigured, match=r"REDIS_URL is not set.*make run"):
        env.redis_url()


def test_celery_reads_sockets_its_own_way():
    assert env.celery_url("unix:///tmp/r.sock?db=3") == "redis+socket:///tmp/r.sock?virtual_host=3"
    assert env.celery_url("redis://host:6379/0") == "redis://host:6379/0"


def test_local_key_is_made_once_and_private_even_before_the_data_folder_exists(monkeypatch, tmp_path):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    monkeypatch.setattr(env, "VAR_DIR", tmp_path / "var")
    first = env.local_secret_key()
    assert len(first) >= 50
    assert env.local_secret_key() == first
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"prices": {"prompt": 1}}, "`prices` of 'judge'"),
        ({"prices": {"prompt": 1, "completion": "2"}}, "`prices` of 'judge'"),
        ({"prices": {"prompt": -1, "completion": 2}}, "`prices` of 'judge'"),
        ({"prices": {"prompt": True, "completion": 2}}, "`prices` of 'judge'"),
        ({"continuation": "guess"}, "`continuation` of 'judge' must be prefill or ask"),
        ({"api": "embeddings"}, "`api` of 'judge' must be chat or completions"),
        ({"speed": "fast"}, "unknown fields speed"),
        ({"model": 7}, "object of strings"),
    ],
)
def test_a_wrong_endpoint_is_named_with_its_field(monkeypatch, fields, fault):
    entry = {"url": "https://llm.example.org/v1", "model": "m", "prices": {"prompt": 0.15, "completion": 0.6}}
    monkeypatch.setenv("POLICY_ENDPOINTS", json.dumps({"judge": entry}))
    assert env.policy_endpoints({}) == {"judge": entry}
    monkeypatch.setenv("POLICY_ENDPOINTS", json.dumps({"judge": entry | fields}))
    with pytest.raises(ImproperlyConfigured, match=re.escape(fault)):
        env.policy_endpoints({})
