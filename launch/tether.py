"""Ties a process to the one that started it, so that none is left behind even after `kill -9`.

Run as a script it asks the kernel (Linux) to signal it when its parent dies, then becomes the command.
Elsewhere the command simply runs: an orderly stop still reaches it.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
SESSION_LEADER = 0


def tethered(
    command: list[str], *, on_parent_death: signal.Signals = signal.SIGTERM, parent: int | None = None
) -> list[str]:
    """The command line that runs `command` and sends it a signal when its parent dies.

    The parent is the calling process, or `SESSION_LEADER` where the leader of the session (supervisord) runs the line.
    """
    script = str(Path(__file__).resolve())
    parent = os.getpid() if parent is None else parent
    return [sys.executable, "-I", "-S", "-B", script, on_parent_death.name, str(parent), *command]


def main(arguments: list[str]) -> None:
    """Become the command: `SIGNAL PARENT_PID COMMAND...`."""
    name, parent, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.Signals[name].value, 0, 0, 0)
        expected = os.getsid(0) if int(parent) == SESSION_LEADER else int(parent)
        if os.getppid() != expected:  # it died before we asked
            sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
