"""Each process of a parallel run collects the files that it runs: `tests/plugins/whole_files.py`."""

import os
import subprocess
import sys
from pathlib import Path

from config.env import BASE_DIR

FILES = {
    "a/test_first.py": "def test_first(): pass",
    "a/test_left_out.py": "def test_left_out(): assert False",
    "b/test_broken.py": "import no_module_of_this_name",
    "c/test_last.py": "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_last(n): pass",
}


def test_files_with_errors_or_without_selected_tests_leave_the_others_alone(tmp_path: Path) -> None:
    for name, source in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    settings = "--import-mode=importlib -p no:django -p no:cacheprovider"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {settings}\n")
    options = ["-n", "1", "--dist", "loadfile", "--no-loadscope-reorder", "-p", "tests.plugins.whole_files", "-q", "-k"]
    outcome = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "not left_out", "-c", "pytest.ini", "a", "b", "c"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name} | {"PYTHONPATH": str(BASE_DIR)},
        capture_output=True,
        text=True,
    )
    assert "3 passed, 1 error" in outcome.stdout, outcome.stdout
    assert "no_module_of_this_name" in outcome.stdout
    assert outcome.returncode == 1
