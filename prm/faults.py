"""What a decoder finds wrong with a record, and where: a sentence for readers of any language.

msgspec speaks English only, and of types by the names that Python has for them. Its commonest sentences are said by a
template, with types in plain words; what is raised by a record's own checks is
its cause, and knows its template already; the rest stays as it is.
"""

import re
from collections.abc import Callable
from functools import reduce

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
        lambda expected, got: said("Expected {expected}, got {got}", expected=_types(expected), got=_types(got)),
    ),
    (r"Expected `str` matching regex '\\\\S'", lambda: said("Expected a text that is not blank")),
    (
        r"Expected `str` matching regex '\^\(\?:(?P<names>.*)\)\$'",
        lambda names: said("Expected one of {names}", names=names.replace("\\", "").replace("|", ", ")),
    ),
    (
        r"Expected `(?P<expected>[^`]*)` of length (?P<limit>[<>]=? \S+)",
        lambda expected, limit: said("Expected {expected} of length {limit}", expected=_types(expected), limit=limit),
    ),
    (
        r"Expected `(?P<expected>[^`]*)` (?P<limit>[<>]=? \S+)",
        lambda expected, limit: said("Expected {expected} {limit}", expected=_types(expected), limit=limit),
    ),
    (r"JSON is malformed: (?P<what>.*)", lambda **of: said("JSON is malformed: {what}", **of)),
    (r"Input data was truncated", lambda: said("Input data was truncated")),
]

_TYPES: dict[str, Callable[[], str]] = {
    "str": lambda: said("a text"),
    "int": lambda: said("a whole number"),
    "float": lambda: said("a number"),
    "bool": lambda: said("true or false"),
    "array": lambda: said("a list"),
    "object": lambda: said("an object"),
    "null": lambda: "null",
}


UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # all that decoding JSON may raise


# The first or second half of a pair of escapes without the other, which stands for no character.
_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def fault_of(error: msgspec.DecodeError) -> tuple[str, str]:
    """Place and reason of "Expected `str`, got `int` - at `$.label.steps[0]`": "label.steps[0]" and a sentence."""
    path, reason = _parts(error)
    return path.lstrip("."), reason


def sentence_of(error: Exception, raw: bytes = b"") -> str:
    """Both in one sentence; of what is no JSON text at all, that. `raw` is what was decoded."""
    if half := _HALF_PAIR.search(raw):
        return said("{escape} is half of a surrogate pair, which is not a character", escape=half[0].decode())
    if isinstance(error, UnicodeDecodeError):
        return said("this is not UTF-8 text")
    if isinstance(error, RecursionError):
        return said("it is nested too deeply")
    path, reason = _parts(error)
    return said("{reason} - at `${path}`", reason=reason, path=path) if path else reason


def _parts(error: Exception) -> tuple[str, str]:
    reason, _, path = str(error).partition(" - at `$")
    return path.rstrip("`"), _own(error) or _known(reason) or reason


def _own(error: Exception) -> Said | None:
    cause = error.__cause__
    return cause.args[0] if isinstance(cause, ValueError) and cause.args and isinstance(cause.args[0], Said) else None


def _types(names: str) -> str:
    """`array | null` as a list or null; a type that is not among the common ones by its name."""
    words = [_TYPES.get(name, lambda name=name: f"`{name}`")() for name in names.split(" | ")]
    return reduce(lambda one, other: said("{one} or {other}", one=one, other=other), words)


def _known(reason: str) -> Said | None:
    for pattern, say in _SENTENCES:
        if found := re.fullmatch(pattern, reason):
            return say(**found.groupdict())
    return None
