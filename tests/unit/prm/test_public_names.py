"""The names of `prm`: each loads from its module, the type checker knows the same ones, and none costs an import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import prm
from prm.__main__ import main

SOURCE = Path(prm.__file__)


def test_the_type_checker_knows_the_names_that_load() -> None:
    imports = [node for node in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(node, ast.ImportFrom)]
    checked = {alias.asname: node.module for node in imports for alias in node.names if node.module.startswith("prm.")}
    assert checked == prm._HOMES
    for name in prm.__all__:
        assert getattr(prm, name) is not None
    assert (SOURCE.parent / "py.typed").exists()


def test_the_command_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"{prm.__version__}\n"


def test_importing_the_library_imports_no_torch() -> None:
    script = (
        "import sys, prm; prm.TrainConfig(epochs=3), prm.Trace('a', 'p', ['s']), prm.read_traces; "
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
