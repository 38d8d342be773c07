"""What a decoder finds wrong with a record, and where: a sentence for readers of any language.

msgspec speaks English only. Its commonest sentences are said by a template; what is raised by a record's own checks is
its cause, and knows its template already; the rest stays as it is.
"""

import re
from collections.abc import Callable

import msgspec

from prm.said import Said, said

_SENTENCES: list[tuple[str, Callable[..., Said]]] = [
    (
        r"Object missing required field `(?P<name>.*)`",
        lambda **of: said("Object missing required field `{name}`", **of),
    ),
    (
        r"Object contains unknown field `(?P<name>.*)`",
        lambda **of: said("Object contains unknown field `{name}`", **of),
    ),
    (r"Invalid enum value (?P<value>.*)", lambda **of: said("Invalid enum value {value}", **of)),
    (
        r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`",
        lambda **of: said("Expected `{expected}`, got `{got}`", **of),
    ),
    (
        r"Expected `(?P<expected>[^`]*)` of length (?P<limit>[<>]=? \S+)",
        lambda **of: said("Expected `{expected}` of length {limit}", **of),
    ),
    (
        r"Expected `(?P<expected>[^`]*)` (?P<limit>[<>]=? \S+)",
        lambda **of: said("Expected `{expected}` {limit}", **of),
    ),
    (r"JSON is malformed: (?P<what>.*)", lambda **of: said("JSON is malformed: {what}", **of)),
    (r"Input data was truncated", lambda: said("Input data was truncated")),
]


def fault_of(error: msgspec.DecodeError) -> tuple[str, str]:
    """Place and reason of "Expected `str`, got `int` - at `$.label.steps[0]`": "label.steps[0]" and a sentence."""
    path, reason = _parts(error)
    return path.lstrip("."), reason


def sentence_of(error: msgspec.DecodeError) -> str:
    """Both in one sentence, as msgspec says it."""
    path, reason = _parts(error)
    return said("{reason} - at `${path}`", reason=reason, path=path) if path else reason


def _parts(error: msgspec.DecodeError) -> tuple[str, str]:
    reason, _, path = str(error).partition(" - at `$")
    return path.rstrip("`"), _own(error) or _known(reason) or reason


def _own(error: msgspec.DecodeError) -> Said | None:
    cause = error.__cause__
    return cause.args[0] if isinstance(cause, ValueError) and cause.args and isinstance(cause.args[0], Said) else None


def _known(reason: str) -> Said | None:
    for pattern, say in _SENTENCES:
        if found := re.fullmatch(pattern, reason):
            return say(**found.groupdict())
    return None
