"""Ends a process together with its parent, even after `kill -9`.

Run as a script, it asks the kernel (Linux) for a signal when its parent dies, and then becomes the command. On other
systems the command runs without that: an orderly stop still ends it.
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
    """The command line that runs `command` and signals it when its parent dies.

    The parent is the calling process, or with `SESSION_LEADER` the leader of the session (supervisord).
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
        if os.getppid() != expected:  # the parent died before the request
            sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
