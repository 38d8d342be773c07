"""What the first run does and later runs do not."""

import pytest

from launch import __main__ as launch
from launch import progress
from launch.errors import LaunchError
from launch.options import Options


@pytest.fixture
def options(tmp_path):
    return Options(host="127.0.0.1", port=8000, var=tmp_path, external={})


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


@pytest.fixture
def manage(tmp_path, monkeypatch):
    """What stands in for manage.py."""
    monkeypatch.setattr(launch, "BASE_DIR", tmp_path)
    return tmp_path / "manage.py"


def test_failed_command_is_named(options, manage):
    manage.write_text("raise SystemExit(1)")
    with pytest.raises(LaunchError, match=r"`manage.py migrate` failed"):
        launch.prepare(options, {})


def test_a_slow_command_is_waited_for_and_told(options, manage, monkeypatch, capsys):
    monkeypatch.setattr(launch, "REPORT_SECONDS", 0.2)
    monkeypatch.setattr(progress, "REPORT_SECONDS", 0.2)
    (options.var / "demo_accounts.txt").write_text("Sign in as ada.\n")
    manage.write_text("import time; time.sleep(1)")
    launch.prepare(options, {})
    assert "Still running `manage.py migrate` (" in capsys.readouterr().out


def test_help_is_no_error(capsys):
    assert launch.main(["--help"]) == 0
    assert "run          everything" in capsys.readouterr().out


def test_unknown_command_shows_the_known_ones(capsys):
    assert launch.main(["walk"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("There is no command 'walk'.\n")
    assert "run          everything" in said
