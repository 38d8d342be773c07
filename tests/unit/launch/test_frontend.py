"""The front end is built when its sources change, and not otherwise."""

import subprocess

import pytest

from launch import frontend
from launch.errors import LaunchError


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "frontend"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.tsx").write_text("export {}")
    (folder / "package-lock.json").write_text("{}")
    return folder


@pytest.fixture
def commands(monkeypatch, tmp_path, sources):
    """What would be run; each command succeeds."""
    ran = []
    (sources / "node_modules").mkdir()
    (tmp_path / "dist").mkdir()
    monkeypatch.setattr(frontend, "_run", lambda command, *_: ran.append(command[1]))
    return ran


def test_builds_once_for_the_same_sources(sources, commands, tmp_path):
    assert frontend.build(sources, tmp_path / "dist") is True
    assert frontend.build(sources, tmp_path / "dist") is False
    assert commands == ["ci", "run"]


def test_builds_again_after_a_change_and_installs_only_for_a_new_lock(sources, commands, tmp_path):
    frontend.build(sources, tmp_path / "dist")
    (sources / "src" / "main.tsx").write_text("export const changed = 1")
    assert frontend.build(sources, tmp_path / "dist") is True
    assert commands == ["ci", "run", "run"]


def test_packages_and_tests_are_no_sources(sources):
    before = frontend.fingerprint(sources)
    for name in ("node_modules", "tests"):
        (sources / name).mkdir()
        (sources / name / "new.ts").write_text("")
    assert frontend.fingerprint(sources) == before


def test_no_node_and_none_from_pip(monkeypatch):
    monkeypatch.setattr(frontend.shutil, "which", lambda name: None)
    monkeypatch.setattr(frontend.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(frontend.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1))
    with pytest.raises(LaunchError, match=r"needs Node 20\.19 or newer"):
        frontend.find_node()
