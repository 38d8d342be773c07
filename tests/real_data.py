"""Real labelled files that may lie beside the checkout, in `shared/data` or where STEPMARK_DATA says."""

import os
from pathlib import Path

import pytest


def real_data(name: str) -> Path:
    """Path of a real file; the test is skipped where it is not there."""
    beside = [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    given = [Path(os.environ["STEPMARK_DATA"])] if "STEPMARK_DATA" in os.environ else []
    for folder in [*given, *beside]:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"the real file {name} is not beside the checkout")
