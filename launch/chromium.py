"""Finds the Chromium that the browser tests use; installs it if that needs no further permission.

python -m launch.chromium    install it if it is missing
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from launch.errors import LaunchError, exit_status

SHELL = "chromium-headless-shell"  # draws the same pages for half the processor time
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> Path:
    """The path of the browser. Raises LaunchError if there is none."""
    for name in NAMES:
        if path := shutil.which(name):
            return Path(path)
    raise LaunchError(
        "The browser tests need Chromium, which is not on the path: "
        f"install it (Debian: `apt-get install {SHELL}`), or run `make test` as root, which does."
    )


def install_chromium() -> None:
    """Install Debian's headless shell if it is missing and this is root; any other Chromium will do instead."""
    if not shutil.which(SHELL) and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium...", flush=True)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", SHELL]):
            outcome = subprocess.run(["apt-get", *arguments], env=environment, capture_output=True, text=True)
            if outcome.returncode != 0:
                print(outcome.stdout + outcome.stderr, file=sys.stderr)
    find_chromium()


if __name__ == "__main__":
    sys.exit(exit_status(install_chromium))
