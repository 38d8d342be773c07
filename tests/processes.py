"""Which processes were started with a data folder, for tests of what is left behind."""

from pathlib import Path


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
