"""What supervisord is told to run."""

import configparser
from pathlib import Path

import pytest

from launch.options import Options
from launch.supervision import programs, supervisor_configuration


def configured(var: Path) -> configparser.ConfigParser:
    options = Options(host="127.0.0.1", port=8123, var=var, external={})
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(supervisor_configuration(programs(options), var / "run", var / "log", var / "supervisor.sock"))
    return parser


def test_programs_stop_together_and_restart():
    parser = configured(Path("/srv/var"))
    names = parser["group:stepmark"]["programs"].split(",")
    assert names == ["web", "default", "gpu", "score", "beat"]
    assert all(parser[f"program:{name}"]["autorestart"] == "true" for name in names)
    assert "127.0.0.1:8123" in parser["program:web"]["command"]


@pytest.mark.parametrize(
    ("host", "bind", "address"),
    [
        ("127.0.0.1", "127.0.0.1:8123", "http://127.0.0.1:8123/"),
        ("0.0.0.0", "0.0.0.0:8123", "http://127.0.0.1:8123/"),
        ("::1", "[::1]:8123", "http://[::1]:8123/"),
        ("::", "[::]:8123", "http://[::1]:8123/"),
    ],
)
def test_the_web_listens_at_the_host_and_is_announced_where_a_browser_finds_it(host, bind, address, tmp_path):
    options = Options(host=host, port=8123, var=tmp_path, external={})
    web = programs(options)[0]
    assert web.command[web.command.index("--bind") + 1] == bind
    assert options.address == address


def test_only_the_web_starts_by_itself():
    parser = configured(Path("/srv/var"))
    begun = [name for name in parser.sections() if parser[name].get("autostart") == "true"]
    assert begun == ["program:web"]


def test_only_the_web_process_pools_connections():
    parser = configured(Path("/srv/var"))
    pooled = [name for name in parser.sections() if "DATABASE_POOL" in parser[name].get("environment", "")]
    assert pooled == ["program:web"]


def test_paths_with_a_space_or_a_percent_sign():
    parser = configured(Path("/srv/50% full"))
    assert "'/srv/50%% full/run'" in parser["program:web"]["command"]
    assert parser["program:web"]["stdout_logfile"] == "/srv/50%% full/log/web.log"
