"""Creates `.venv` and installs Stepmark's requirements into it. Needs only the standard library of the system's Python.

python3 launch/bootstrap.py [EXTRA...]           install the requirements of both distributions, with these extras
python3 launch/bootstrap.py --list [EXTRA...]    print them
"""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
VENV = BASE_DIR / ".venv"
REQUIREMENTS = BASE_DIR / "requirements.txt"  # the version of each package, written by `make lock`
PIP = "pip==26.3"  # chooses the packages in a third of the time that Python 3.11's own pip needs
OLDEST_PYTHON = (3, 11)


def read_requirements(extras: Sequence[str]) -> list[str]:
    """The requirements of the library and the platform, except each other."""
    import tomllib  # a Python older than OLDEST_PYTHON does not have it

    requirements: list[str] = []
    for folder in (BASE_DIR / "prm", BASE_DIR):
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        requirements += project["dependencies"]
        for extra in extras:
            requirements += project["optional-dependencies"].get(extra, [])
    return [requirement for requirement in requirements if not requirement.startswith("stepmark")]


def bootstrap(extras: Sequence[str]) -> None:
    """Create the environment if it does not exist, and install the requirements unless they are installed."""
    python = VENV / "bin" / "python"
    if not python.exists():
        print("Creating .venv...", flush=True)
        if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("Python cannot make a virtual environment here: on Debian and Ubuntu, install `python3-venv`.")
    requirements = read_requirements(extras)
    stamp = VENV / f".{'-'.join(('requirements', *extras))}.sha256"
    wanted = hashlib.sha256("\n".join([PIP, *requirements, REQUIREMENTS.read_text()]).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("Installing Stepmark's requirements (the first time takes some minutes)...", flush=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile"]  # most modules are never imported
    for packages in ([PIP], ["--constraint", str(REQUIREMENTS), *requirements]):
        command = [str(python), "-m", "pip", "install", *options, *packages]
        if subprocess.run(command, cwd=BASE_DIR).returncode != 0:
            sys.exit("pip could not install Stepmark's requirements: its error is above.")
    stamp.write_text(wanted)


if __name__ == "__main__":
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"Stepmark needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}: set PYTHON.")
    if sys.argv[1:2] == ["--list"]:
        print("\n".join(read_requirements(sys.argv[2:])))
    else:
        bootstrap(sys.argv[1:])
