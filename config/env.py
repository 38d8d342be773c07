"""Reads the process environment: the only module that does, for every setting that may differ between machines."""

import os
import secrets
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError
from psycopg.conninfo import conninfo_to_dict

BASE_DIR = Path(__file__).resolve().parent.parent

SHORTEST_KEY, FEWEST_DISTINCT = 32, 10
SAMPLE_WORDS = ("django-insecure", "insecure", "changeme", "change-me", "change_me", "secret", "password", "example",
                "your-", "stepmark")  # fmt: skip

ENDPOINT_TEXTS = {"url", "model", "api_key", "api", "prompt", "continuation"}
MOST_EXPENSIVE = 1_000_000  # per million tokens
ENDPOINT_CHOICES = {"api": ("chat", "completions"), "continuation": ("prefill", "ask")}

env = Env()
# The folder of settings and data: the checkout, or the folder where an installed `stepmark` was started.
HOME_DIR = Path(env.str("STEPMARK_HOME", "") or BASE_DIR)
env.read_env(str(HOME_DIR / ".env"), recurse=False)

VAR_DIR = Path(env.str("VAR_DIR", "") or HOME_DIR / "var").resolve()
# The owner of the embedded servers writes this file while they run, so that `manage.py` finds them.
env.read_env(str(VAR_DIR / "servers.env"), recurse=False)


def empty_metrics_folder() -> None:
    """Create or empty the folder where the processes of one web server sum their metrics.

    prometheus_client reads its name, PROMETHEUS_MULTIPROC_DIR, from the environment.
    """
    name = env.str("PROMETHEUS_MULTIPROC_DIR", "") or tempfile.mkdtemp(prefix="stepmark-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = name
    folder = Path(name)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.glob("*.db"):
        old.unlink()


def awaited_file(name: str) -> Path | None:
    """The path of a file that another process waits for: a worker creates READY_FILE, the launcher PREPARED_FILE."""
    return Path(path) if (path := env.str(name, "")) else None


def require_production() -> None:
    """End the process with one message that names every setting that is missing or unusable.

    The status is 3, because gunicorn then stops too; with another one it would restart its workers again and again.
    """
    faults = [f"{name} is not set." for name in ("ALLOWED_HOSTS", "REDIS_URL") if not env.str(name, "")]
    if fault := secret_key_fault(env.str("SECRET_KEY", "")):
        faults.append(fault)
    if not env.str("DATABASE_URL", ""):
        faults.append("DATABASE_URL is not set.")
    else:
        faults += _faults_of(databases)
    faults += _faults_of(lambda: policy_endpoints({}))
    faults += _faults_of(import_roots) + _faults_of(export_roots) + _faults_of(storage)
    if faults:
        sys.stderr.write("\n- ".join(["Stepmark cannot start. Correct these settings:", *sorted(faults)]) + "\n")
        raise SystemExit(3)


def secret_key_fault(key: str) -> str:
    """A sentence on what is wrong with a SECRET_KEY and what to do, without the key; "" if nothing is wrong."""
    if not key:
        fault = "is not set"
    elif len(key) < SHORTEST_KEY:
        fault = f"has {len(key)} characters; it needs at least {SHORTEST_KEY}"
    elif len(set(key)) < FEWEST_DISTINCT:
        fault = f"has {len(set(key))} different characters; it needs at least {FEWEST_DISTINCT}"
    elif any(word in key.casefold() for word in SAMPLE_WORDS):
        fault = "is a sample"
    else:
        return ""
    return f'SECRET_KEY {fault}. Make one: python3 -c "import secrets; print(secrets.token_urlsafe(50))"'


def _faults_of(read: Callable[[], object]) -> list[str]:
    try:
        read()
    except (ImproperlyConfigured, EnvError) as error:
        return [str(error)]
    return []


def databases() -> dict[str, dict[str, Any]]:
    """Django's DATABASES: `default` from DATABASE_URL, and a `replica` if there is a DATABASE_REPLICA_URL.

    With DATABASE_POOL (web processes only) each has a connection pool. Such a process uses PGBOUNCER_URL if that is
    set: a pooler that gives a session only for a transaction.
    """
    is_shared = bool(env.int("DATABASE_POOL", 0) and env.str("PGBOUNCER_URL", ""))
    entries = {"default": _database("PGBOUNCER_URL" if is_shared else "DATABASE_URL", is_shared=is_shared)}
    if env.str("DATABASE_REPLICA_URL", ""):
        entries["replica"] = _database("DATABASE_REPLICA_URL", seconds=2)
        # A host that is gone must not delay a page for longer. These apply to TCP, and not to sockets.
        patience = {"tcp_user_timeout": "3000", "keepalives_idle": "2", "keepalives_interval": "1",
                    "keepalives_count": "2"}  # fmt: skip
        entries["replica"]["OPTIONS"] = patience | entries["replica"]["OPTIONS"]
    return entries


def _database(name: str, *, is_shared: bool = False, seconds: int = 5) -> dict[str, Any]:
    """An entry of DATABASES from this setting; within so many seconds there must be a connection."""
    url = _address(name)
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except Exception as error:
        raise ImproperlyConfigured(f"{name} is not a PostgreSQL address: {error}") from None
    entry: dict[str, Any] = {
        "ENGINE": "config.postgres",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "CONN_HEALTH_CHECKS": True,
        "TRANSACTION_POOLING": is_shared,
        # Without a threshold psycopg prepares no statement, not even on request (`annotation.core.statements`).
        "OPTIONS": {"connect_timeout": str(seconds), "prepare_threshold": None if is_shared else 5} | parts,
    }
    if pool_size := env.int("DATABASE_POOL", 0):
        # During an outage the pool would retry at growing intervals and reconnect minutes late. With a short timeout
        # it gives up soon, and the next request makes it retry.
        entry["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": seconds, "reconnect_timeout": 3}
    else:
        entry["CONN_MAX_AGE"] = 60
    return entry


def redis_url() -> str:
    """The address of Redis, for redis-py and Django's cache."""
    return _address("REDIS_URL")


def celery_url(address: str) -> str:
    """The same address for Celery, which writes a socket as `redis+socket://`."""
    if not address.startswith("unix://"):
        return address
    parts = urlsplit(address)
    return f"redis+socket://{parts.path}?{parts.query.replace('db=', 'virtual_host=')}"


def policy_endpoints(default: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """POLICY_ENDPOINTS: the policies and judges by name, each with `url` and `model`.

    Optional: `api_key`, `api` ("chat" or "completions"), `continuation` ("prefill", or "ask" for a server that cannot
    continue a message), the `prompt` that the page proposes, and `prices` per million tokens of `prompt` and
    `completion`.
    """
    if not env.str("POLICY_ENDPOINTS", ""):
        return default
    endpoints = env.json("POLICY_ENDPOINTS")
    if not isinstance(endpoints, dict):
        raise ImproperlyConfigured('POLICY_ENDPOINTS must be a JSON object: {"name": {"url": "...", "model": "..."}}.')
    for name, entry in endpoints.items():
        texts = {field: value for field, value in entry.items() if field != "prices"} if isinstance(entry, dict) else {}
        if not texts or not all(isinstance(value, str) for value in texts.values()):
            raise ImproperlyConfigured(
                f"POLICY_ENDPOINTS: {name!r} must be an object of strings with `url` and `model`."
            )
        if unknown := texts.keys() - ENDPOINT_TEXTS:
            raise ImproperlyConfigured(
                f"POLICY_ENDPOINTS: {name!r} has the unknown fields {', '.join(sorted(unknown))}."
            )
        for field, choices in ENDPOINT_CHOICES.items():
            if texts.get(field, choices[0]) not in choices:
                raise ImproperlyConfigured(
                    f"POLICY_ENDPOINTS: the `{field}` of {name!r} must be {' or '.join(choices)}."
                )
        if missing := {"url", "model"} - texts.keys():
            raise ImproperlyConfigured(f"POLICY_ENDPOINTS: {name!r} lacks {' and '.join(sorted(missing))}.")
        if "prices" in entry and not _are_prices(entry["prices"]):
            raise ImproperlyConfigured(
                f"POLICY_ENDPOINTS: the `prices` of {name!r} must be an object with the numbers `prompt` and "
                "`completion`, each a price per million tokens."
            )
    return endpoints


def _are_prices(prices: Any) -> bool:
    if not isinstance(prices, dict) or prices.keys() != {"prompt", "completion"}:
        return False
    return all(type(price) in (int, float) and 0 <= price < MOST_EXPENSIVE for price in prices.values())


def import_roots() -> dict[str, dict[str, Any]]:
    """IMPORT_ROOTS: the places to import from by name, each with its `url` and optional fsspec `options`."""
    return _checked_roots("IMPORT_ROOTS", env.json("IMPORT_ROOTS") if env.str("IMPORT_ROOTS", "") else {})


def export_roots() -> dict[str, dict[str, Any]]:
    """EXPORT_ROOTS: the places to export to, in the same form."""
    return _checked_roots("EXPORT_ROOTS", env.json("EXPORT_ROOTS") if env.str("EXPORT_ROOTS", "") else {})


def storage() -> tuple[str, dict[str, Any]]:
    """STORAGE_URL and its fsspec STORAGE_OPTIONS; "" for the data folder of this machine."""
    url = env.str("STORAGE_URL", "")
    if not url:
        return "", {}
    options = env.json("STORAGE_OPTIONS") if env.str("STORAGE_OPTIONS", "") else {}
    root = _checked_roots("STORAGE_URL, STORAGE_OPTIONS", {"storage": {"url": url, "options": options}})["storage"]
    if url.startswith(("file://", "local://")):
        raise ImproperlyConfigured(
            "STORAGE_URL must be a bucket, such as s3://bucket/folder. Set VAR_DIR to use another folder."
        )
    return root["url"], root["options"]


def _checked_roots(setting: str, roots: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(roots, dict):
        raise ImproperlyConfigured(f'{setting} must be a JSON object: {{"name": {{"url": "s3://bucket/folder"}}}}.')
    for name, root in roots.items():
        if not isinstance(root, dict) or not {"url"} <= root.keys() <= {"url", "options"}:
            raise ImproperlyConfigured(f"{setting}: {name!r} must have a `url`, may have `options`, and nothing else.")
        if not isinstance(root["url"], str) or "://" not in root["url"] or "::" in root["url"]:
            raise ImproperlyConfigured(
                f"{setting}: the `url` of {name!r} must begin with a scheme such as s3://, https:// or file://."
            )
        if not isinstance(root.get("options", {}), dict):
            raise ImproperlyConfigured(f"{setting}: the `options` of {name!r} must be a JSON object.")
    return roots


def local_secret_key() -> str:
    """SECRET_KEY, or a key that is created once on this machine and that only its owner can read."""
    if key := env.str("SECRET_KEY", ""):
        return key
    path = VAR_DIR / "secret_key"
    path.parent.mkdir(parents=True, exist_ok=True)  # on a fresh clone `make check` may run first
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_urlsafe(50)
        file.write(key)
    return key


def _address(name: str) -> str:
    address = env.str(name, "")
    if not address:
        raise ImproperlyConfigured(
            f"{name} is not set and no embedded server is running: "
            "start Stepmark (`make run` or `stepmark run`), or set it."
        )
    return address
