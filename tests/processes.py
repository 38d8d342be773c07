"""Processes that tests start: a port for one, and which of them are left behind."""

import socket
from pathlib import Path


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started_with(var: Path) -> list[str]:
    """The command lines of the processes whose VAR_DIR is `var` (Linux)."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"VAR_DIR={var}".encode() in (process / "environ").read_bytes().split(b"\0"):
                lines.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return [line for line in lines if line]
