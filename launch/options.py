"""The options of a start, read from the environment and `.env`."""

import os
from dataclasses import dataclass
from pathlib import Path

from environs import Env

from launch.errors import LaunchError

BASE_DIR = Path(__file__).resolve().parent.parent
HOME_DIR = Path(os.environ.get("STEPMARK_HOME") or BASE_DIR)  # of settings and data; `stepmark` sets it


@dataclass(frozen=True)
class Options:
    """Where to listen, where to store data, and the addresses of `external` servers ("" for an embedded one)."""

    host: str
    port: int
    var: Path
    external: dict[str, str]

    @property
    def address(self) -> str:
        """The URL of Stepmark for a browser on this machine."""
        return f"http://{_bracketed(self.local_host)}:{self.port}/"

    @property
    def bind(self) -> str:
        """The host and port to listen on, as gunicorn reads them."""
        return f"{_bracketed(self.host)}:{self.port}"

    @property
    def local_host(self) -> str:
        """The host under which this machine reaches the server; a host that stands for all addresses is replaced."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)


def read_options() -> Options:
    """The options of this start. Raises LaunchError for a PORT that is not a port."""
    env = Env()
    env.read_env(str(HOME_DIR / ".env"), recurse=False)
    port = env.str("PORT", "") or "8000"
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise LaunchError(f"PORT is {port!r}, which is not a port: give a number from 1 to 65535.")
    return Options(
        host=env.str("HOST", "") or "127.0.0.1",
        port=int(port),
        var=Path(os.path.abspath(env.str("VAR_DIR", "") or HOME_DIR / "var")),
        external={name: env.str(name, "") for name in ("DATABASE_URL", "REDIS_URL")},
    )


def _bracketed(host: str) -> str:
    """The host as a URL writes it: an IPv6 address is in brackets."""
    return f"[{host}]" if ":" in host else host
