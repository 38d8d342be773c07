"""The guide names every function, and its example runs as it stands."""

import re
from pathlib import Path

import pytest

from prm.acquisition import FUNCTIONS

GUIDE = (Path(__file__).parents[4] / "docs" / "explanation" / "active-learning.md").read_text()


def test_the_example_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [block] = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)
    exec(block, {})
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_guide_has_every_function_and_says_which_are_per_cost() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", GUIDE, re.M))
    assert set(rows) == set(FUNCTIONS)
    per_cost = {name for name in FUNCTIONS if FUNCTIONS.get(name).per_cost}
    assert {name for name, row in rows.items() if " | yes | " in row} == per_cost
