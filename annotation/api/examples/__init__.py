"""Example requests with their responses, a JSON file for each operation. The tests send each request."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec


class Example(msgspec.Struct):
    """A request, such as `GET /api/v1/projects/`, and its response."""

    request: str
    response: Any


@cache
def find_example(operation: str) -> Example | None:
    """The example of an operation, by the operation's id; None if it has none."""
    path = Path(__file__).parent / f"{operation}.json"
    return msgspec.json.decode(path.read_bytes(), type=Example) if path.exists() else None
