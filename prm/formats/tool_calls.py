"""How a tool call of an agent reads as the text of a step: `name({"argument": ...})`."""

from typing import Any

import msgspec


def call_text(name: str, arguments: Any) -> str:
    """One call; arguments come as an object, or as the JSON text of one."""
    given = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return f"{name}({given})"


def step_text(said: str, calls: list[str]) -> str:
    """What was said, then the calls, one a line."""
    return "\n".join(part for part in (said, *calls) if part)
