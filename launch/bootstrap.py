"""Makes `.venv` and installs requirement files into it. Runs on the system's Python, with its library only.

python3 launch/bootstrap.py requirements.txt
"""

import hashlib
import subprocess
import sys
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
VENV = BASE_DIR / ".venv"
OLDEST_PYTHON = (3, 11)


def bootstrap(requirements: Path) -> None:
    """Create the environment if there is none, and install `requirements` unless they are installed already."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"Stepmark needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}: set PYTHON.")
    python = VENV / "bin" / "python"
    if not python.exists():
        print("Creating .venv...", flush=True)
        if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("Python cannot make a virtual environment here: on Debian and Ubuntu, install `python3-venv`.")
    stamp, wanted = VENV / f".{requirements.stem}.sha256", _fingerprint(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"Installing {requirements.name} (the first time takes some minutes)...", flush=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]  # most of it is never imported
    command = [str(python), "-m", "pip", "install", *options, "-r", str(requirements)]
    if subprocess.run(command, cwd=BASE_DIR).returncode != 0:
        sys.exit(f"pip could not install {requirements.name}: what it said stands above.")
    stamp.write_text(wanted)


def _fingerprint(requirements: Path) -> str:
    """A hash over the file and those it includes by `-r`."""
    text = requirements.read_text()
    included = [line.split()[1] for line in text.splitlines() if line.startswith("-r ")]
    return hashlib.sha256(
        (text + "".join(_fingerprint(requirements.parent / name) for name in included)).encode()
    ).hexdigest()


if __name__ == "__main__":
    bootstrap(BASE_DIR / sys.argv[1])
