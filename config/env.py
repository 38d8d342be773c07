"""The only reader of the process environment: every setting that may differ between machines is read here."""

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

ENDPOINT_FIELDS = {"url", "model", "api_key", "api", "prompt"}

env = Env()
# The folder of settings and data: the checkout's, or the one where an installed `stepmark` was started.
HOME_DIR = Path(env.str("STEPMARK_HOME", "") or BASE_DIR)
env.read_env(str(HOME_DIR / ".env"), recurse=False)

VAR_DIR = Path(env.str("VAR_DIR", "") or HOME_DIR / "var").resolve()
# Written by the owner of the embedded servers for as long as they run, so that `manage.py` finds them.
env.read_env(str(VAR_DIR / "servers.env"), recurse=False)


def select_settings(module: str) -> None:
    """Use this settings module unless the environment names another."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", module)


def empty_metrics_folder() -> None:
    """Make the folder in which the processes of one web server add up their metrics, without those of an earlier one.

    prometheus_client reads its name, PROMETHEUS_MULTIPROC_DIR, from the environment by itself.
    """
    name = env.str("PROMETHEUS_MULTIPROC_DIR", "") or tempfile.mkdtemp(prefix="stepmark-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = name
    folder = Path(name)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in folder.glob("*.db"):
        old.unlink()


def ready_file() -> Path | None:
    """READY_FILE: what a worker makes when it takes tasks, for the process that started it."""
    return Path(name) if (name := env.str("READY_FILE", "")) else None


def prepared_file() -> Path | None:
    """PREPARED_FILE: what the process that started this web server makes once the database is up to date."""
    return Path(name) if (name := env.str("PREPARED_FILE", "")) else None


def awaited_workers() -> list[Path]:
    """AWAITED_WORKERS: the ready files of the workers that were started beside this web process."""
    queues: list[str] = env.list("AWAITED_WORKERS", [])
    return [VAR_DIR / "run" / f"{queue}.ready" for queue in queues]


def require_production() -> None:
    """End the process with one plain message that names every setting that is missing or unusable.

    Its status is 3, on which gunicorn stops too; on any other it would start its workers again and again.
    """
    faults = [f"{name} is not set." for name in ("ALLOWED_HOSTS", "REDIS_URL") if not env.str(name, "")]
    if fault := secret_key_fault(env.str("SECRET_KEY", "")):
        faults.append(fault)
    if not env.str("DATABASE_URL", ""):
        faults.append("DATABASE_URL is not set.")
    else:
        faults += _faults_of(database)
    faults += _faults_of(lambda: policy_endpoints({})) + _faults_of(import_roots)
    if faults:
        sys.stderr.write("\n- ".join(["Stepmark cannot start. Correct these settings:", *sorted(faults)]) + "\n")
        raise SystemExit(3)


def secret_key_fault(key: str) -> str:
    """What is wrong with a SECRET_KEY, in a sentence, with a remedy; empty where nothing is. The key is not quoted."""
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


def database() -> dict[str, Any]:
    """Django's DATABASES entry from DATABASE_URL; DATABASE_POOL (web processes only) asks for a connection pool."""
    url = _address("DATABASE_URL")
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    except Exception as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not a PostgreSQL address: {error}") from None
    entry: dict[str, Any] = {
        "ENGINE": "django_prometheus.db.backends.postgresql",
        "NAME": parts.pop("dbname", ""),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": parts.pop("port", ""),
        "CONN_HEALTH_CHECKS": True,
        # Without a threshold psycopg prepares nothing, not even what asks for it (`annotation.core.statements`).
        "OPTIONS": {"connect_timeout": "5", "prepare_threshold": 5} | parts,
    }
    if pool_size := env.int("DATABASE_POOL", 0):
        # While the database is away the pool would try ever more rarely, and find it again minutes late: it gives up
        # soon instead, and the next request makes it try again.
        entry["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 5, "reconnect_timeout": 3}
    else:
        entry["CONN_MAX_AGE"] = 60
    return entry


def redis_url() -> str:
    """The address of Redis as redis-py and Django's cache read it."""
    return _address("REDIS_URL")


def celery_url(address: str) -> str:
    """The same address as Celery reads it: a socket is spelled `redis+socket://`."""
    if not address.startswith("unix://"):
        return address
    parts = urlsplit(address)
    return f"redis+socket://{parts.path}?{parts.query.replace('db=', 'virtual_host=')}"


def policy_endpoints(default: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """POLICY_ENDPOINTS: the policies that may be sampled from, each name with `url`, `model` and what else is known.

    Beside these: `api_key`, `api` ("chat" or "completions"), `prompt` (what the page proposes).
    """
    if not env.str("POLICY_ENDPOINTS", ""):
        return default
    found = env.json("POLICY_ENDPOINTS")
    if not isinstance(found, dict):
        raise ImproperlyConfigured('POLICY_ENDPOINTS is a JSON object: {"name": {"url": "...", "model": "..."}}.')
    for name, entry in found.items():
        if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
            raise ImproperlyConfigured(f"POLICY_ENDPOINTS: {name!r} is an object of texts, with `url` and `model`.")
        if unknown := entry.keys() - ENDPOINT_FIELDS:
            raise ImproperlyConfigured(f"POLICY_ENDPOINTS: {name!r} has {', '.join(sorted(unknown))}, not known here.")
        if entry.get("api", "chat") not in ("chat", "completions"):
            raise ImproperlyConfigured(f"POLICY_ENDPOINTS: {name!r} has another `api` than chat or completions.")
        if missing := {"url", "model"} - entry.keys():
            raise ImproperlyConfigured(f"POLICY_ENDPOINTS: {name!r} lacks {' and '.join(sorted(missing))}.")
    return found


def import_roots() -> dict[str, dict[str, Any]]:
    """IMPORT_ROOTS: where people may import from, each name with its `url` and what fsspec needs (`options`)."""
    if not env.str("IMPORT_ROOTS", ""):
        return {}
    found = env.json("IMPORT_ROOTS")
    if not isinstance(found, dict):
        raise ImproperlyConfigured('IMPORT_ROOTS is a JSON object: {"name": {"url": "s3://bucket/folder"}}.')
    for name, root in found.items():
        if not isinstance(root, dict) or not {"url"} <= root.keys() <= {"url", "options"}:
            raise ImproperlyConfigured(f"IMPORT_ROOTS: {name!r} has a `url` and, where needed, `options`.")
        if not isinstance(root["url"], str) or "://" not in root["url"] or "::" in root["url"]:
            raise ImproperlyConfigured(f"IMPORT_ROOTS: the url of {name!r} begins with s3://, https://, file:// ….")
        if not isinstance(root.get("options", {}), dict):
            raise ImproperlyConfigured(f"IMPORT_ROOTS: the options of {name!r} are a JSON object.")
    return found


def local_secret_key() -> str:
    """SECRET_KEY, or a key of this machine's own, made once and readable by its owner only."""
    if given := env.str("SECRET_KEY", ""):
        return given
    path = VAR_DIR / "secret_key"
    path.parent.mkdir(parents=True, exist_ok=True)  # `make check` on a fresh clone comes before anything makes it
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
