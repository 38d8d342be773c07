"""Real labelled files, in `shared/data` beside the checkout or in the folder that STEPMARK_DATA names."""

import os
from pathlib import Path

import pytest


def real_data(name: str) -> Path:
    """The path of a real file; skips the test if it does not exist."""
    beside = [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    given = [Path(os.environ["STEPMARK_DATA"])] if "STEPMARK_DATA" in os.environ else []
    for folder in [*given, *beside]:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"the real file {name} is not beside the checkout")
