"""The examples of the scoring guide run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from prm.__main__ import main

GUIDE = Path(__file__).parents[4] / "docs" / "reference" / "scoring.md"


@pytest.mark.slow
def test_every_example_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in re.findall(r"^```(python|sh)\n(.*?)^```", GUIDE.read_text(), re.M | re.S):
        if language == "python":
            exec(block, names)
        else:
            for line in block.splitlines():
                python, m, module, *arguments = shlex.split(line)
                assert (python, m, module) == ("python", "-m", "prm")
                assert main(arguments) == 0, line
