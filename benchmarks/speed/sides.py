"""The two sides, each measured in its own process, so that neither loads what the other needs."""

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TRL_ENVIRONMENT = ROOT / "var" / "benchmarks" / "trl"
REQUIREMENTS = HERE / "requirements-trl.txt"

Side = Literal["ours", "trl"]
Measured = dict[str, Any]


def prepare_trl() -> None:
    """Create TRL's environment if it is missing or its requirements have changed: some minutes, some GB."""
    stamp, wanted = TRL_ENVIRONMENT / "requirements.sha256", hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("Making an environment for TRL...", flush=True)
    venv.create(TRL_ENVIRONMENT, with_pip=True, clear=True)
    pins = [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]
    for chosen in (pins[:1], pins):
        subprocess.run([_python("trl"), "-m", "pip", "install", "--quiet", *chosen], check=True)
    stamp.write_text(wanted)


def measure(side: Side, job: dict[str, Any], *, threads: int) -> Measured:
    """Run one job of a side in a new process; returns the JSON of its last line.

    Raises RuntimeError with the output of a process that fails.
    """
    module = ["-m", "benchmarks.speed.ours"] if side == "ours" else [str(HERE / "with_trl.py")]
    quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    environment = os.environ | quiet | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [_python(side), *module, json.dumps(job)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{side} failed at {job}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    found: Measured = json.loads(done.stdout.splitlines()[-1])
    return found


def _python(side: Side) -> str:
    return sys.executable if side == "ours" else str(TRL_ENVIRONMENT / "bin" / "python")
