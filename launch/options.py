"""What the person who starts Stepmark may choose, read from the environment and `.env`."""

import os
from dataclasses import dataclass
from pathlib import Path

from environs import Env

from launch.errors import LaunchError

BASE_DIR = Path(__file__).resolve().parent.parent
HOME_DIR = Path(os.environ.get("STEPMARK_HOME") or BASE_DIR)  # of settings and data; `stepmark` sets it


@dataclass(frozen=True)
class Options:
    """Where to listen, where to keep data, and which servers are given."""

    host: str
    port: int
    var: Path
    given: dict[str, str]

    @property
    def address(self) -> str:
        """Where a browser on this machine finds Stepmark."""
        return f"http://{'127.0.0.1' if self.host == '0.0.0.0' else self.host}:{self.port}/"


def read_options() -> Options:
    """The choices made for this start; a PORT that is no port is refused."""
    env = Env()
    env.read_env(str(HOME_DIR / ".env"), recurse=False)
    port = env.str("PORT", "") or "8000"
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise LaunchError(f"PORT is {port!r}, which is not a port: give a number from 1 to 65535.")
    return Options(
        host=env.str("HOST", "") or "127.0.0.1",
        port=int(port),
        var=Path(os.path.abspath(env.str("VAR_DIR", "") or HOME_DIR / "var")),
        given={name: env.str(name, "") for name in ("DATABASE_URL", "REDIS_URL")},
    )
