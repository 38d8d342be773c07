"""Label Studio's Python environment, separate from ours."""

import hashlib
import os
import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
# No requests to the outside: no telemetry, no error reports, no version checks.
QUIET = {
    "COLLECT_ANALYTICS": "false",
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "LATEST_VERSION_CHECK": "false",
    "FEATURE_FLAGS_OFFLINE": "true",
}
# One key submits a task instead of the default of two: the fewest that its settings allow.
SUBMIT_BY_ENTER = {"EDITOR_KEYMAP": '{"annotation:submit": {"key": "enter", "description": "Submit"}}'}
# The embedded PostgreSQL has no contrib modules. Label Studio then lacks two indexes for searching in the texts
# of results, and saves the time to update them.
NO_CONTRIB = {"SKIP_TRIGRAM_EXTENSION": "full", "SKIP_BTREE_GIN_EXTENSION": "full"}


def prepare(folder: Path) -> None:
    """Create the environment if it is missing or its requirements have changed: minutes, a few hundred packages."""
    stamp, wanted = folder / "requirements.sha256", hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("Making an environment for Label Studio...", flush=True)
    venv.create(folder, with_pip=True, clear=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
    stamp.write_text(wanted)


def variables(folder: Path, *, data: Path, database: str, sockets: Path, redis: Path) -> dict[str, str]:
    """The environment variables of Label Studio's processes; the server of `database` has its socket in `sockets`."""
    inherited = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "HOME") if name in os.environ}
    return inherited | {
        **{f"LABEL_STUDIO_{name}": value for name, value in QUIET.items()},
        **QUIET,
        **NO_CONTRIB,
        **SUBMIT_BY_ENTER,
        "DJANGO_SETTINGS_MODULE": "settings_of_label_studio",
        "PYTHONPATH": os.pathsep.join((str(HERE), str(package_of(folder)))),
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "DJANGO_DB": "default",
        "POSTGRE_NAME": database,
        "POSTGRE_USER": "stepmark",
        "POSTGRE_HOST": str(sockets),
        "BENCHMARK_REDIS_SOCKET": str(redis),
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
    }


def package_of(folder: Path) -> Path:
    """The folder of Label Studio's source with its `manage.py`."""
    return next(folder.glob("lib/python*/site-packages/label_studio"))
