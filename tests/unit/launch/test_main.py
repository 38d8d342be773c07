"""What the first run does and later runs do not."""

import subprocess

import pytest

from launch import __main__ as launch
from launch.errors import LaunchError
from launch.options import Options


@pytest.fixture
def options(tmp_path):
    return Options(host="127.0.0.1", port=8000, var=tmp_path, given={})


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """The management commands that would run."""
    ran = []

    def manage(*arguments, environment):
        ran.append(arguments[0])
        if arguments[0] == "create_demo":
            (tmp_path / "demo_accounts.txt").write_text("Sign in as ada.\n")

    monkeypatch.setattr(launch, "_manage", manage)
    return ran


def test_demo_is_made_on_the_first_run_only(options, commands):
    assert launch.prepare(options, {}) == "Sign in as ada.\n"
    assert launch.prepare(options, {}) == "Sign in as ada.\n"
    assert commands == ["migrate", "create_demo", "migrate"]


def test_failed_command_is_named(options, monkeypatch):
    monkeypatch.setattr(launch.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, stdout=""))
    with pytest.raises(LaunchError, match=r"`manage.py migrate` failed"):
        launch.prepare(options, {})


def test_unknown_command_shows_the_known_ones(capsys):
    assert launch.main(["walk"]) == 2
    assert "python -m launch run" in capsys.readouterr().err
