"""Translatable messages for the errors of a decoder, with their place.

msgspec writes English only, with Python's names of types. Its most common errors become messages with plain words for
types. Errors raised by a record's own checks have messages already, and may name the field of the record at fault:
`raise ValueError(Message(...), "field")`. All other texts stay unchanged.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from prm.messages import Message, joined

_ENUM = "Invalid enum value "
_FAULTS = {
    r"Object missing required field `(?P<name>.*)`": "required_field_missing",
    r"Object contains unknown field `(?P<name>.*)`": "unknown_object_field",
    rf"{_ENUM}(?P<value>.*)": "enum_value_invalid",
    r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`": "type_differs",
    r"Expected `str` matching regex '\\\\S'": "text_blank",
    r"Expected `str` matching regex '\^\(\?:(?P<names>.*)\)\$'": "name_unknown",
    r"Expected `(?P<expected>[^`]*)` of length (?P<limit>[<>]=? \S+)": "length_out_of_range",
    r"Expected `(?P<expected>[^`]*)` (?P<limit>[<>]=? \S+)": "value_out_of_range",
    r"JSON is malformed: (?P<what>.*)": "json_malformed",
    r"Input data was truncated": "input_truncated",
}
_TYPES = {
    "str": "type_text",
    "int": "type_whole_number",
    "float": "type_number",
    "bool": "type_true_or_false",
    "array": "type_list",
    "object": "type_object",
}


UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the errors of decoding JSON


# One half of a surrogate pair without the other is not a character.
_HALF_PAIR = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def fault_of(error: msgspec.DecodeError, kind: Any = None) -> tuple[str, str]:
    """Place and reason of "Expected `str`, got `int` - at `$.label.steps[0]`": "label.steps[0]" and a sentence.

    With the type that was decoded, `kind`, the sentence lists the names that a place may have.
    """
    path, reason = _parts(error, kind)
    return path.lstrip("."), reason


def sentence_of(error: Exception, raw: bytes = b"", kind: Any = None) -> str:
    """Place and reason in one sentence, or what is wrong with the JSON text `raw`; `kind` as in `fault_of`."""
    if half := _HALF_PAIR.search(raw):
        return Message("half_surrogate", escape=half[0].decode())
    if isinstance(error, UnicodeDecodeError):
        return Message("text_not_utf8")
    if isinstance(error, RecursionError):
        return Message("nested_too_deep")
    path, reason = _parts(error, kind)
    return Message("reason_at_path", reason=reason, path=path) if path else reason


def _parts(error: Exception, kind: Any) -> tuple[str, str]:
    reason, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`")
    own = error.__cause__
    if isinstance(own, ValueError) and own.args and isinstance(own.args[0], Message):
        message, *fields = own.args
        return ".".join([path, *fields]), message
    if kind is not None and (value := reason.removeprefix(_ENUM)) != reason and (names := _names_at(path, kind)):
        return path, Message("word_not_known", known=", ".join(names), word=value.strip("'"))
    return path, _known(reason) or reason


def _names_at(path: str, kind: Any) -> list[str]:
    """The values of the literals at a place in a type, such as `.labels[0].kind`."""
    kinds = [inspect.type_info(kind)]
    for part in re.findall(r"\.\w+|\[.*?\]", path):
        kinds = [inner for one in kinds for inner in _inner(one, part.lstrip("."))]
    plain = (one for outer in kinds for one in _inner(outer, ""))
    return [str(value) for one in plain if isinstance(one, inspect.LiteralType) for value in one.values]


def _inner(kind: inspect.Type, part: str) -> Iterator[inspect.Type]:
    """The types in a type at one part of a path, which is a field or an index; for an empty part the type itself."""
    if isinstance(kind, inspect.Metadata):
        yield from _inner(kind.type, part)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _inner(one, part)
    elif not part:
        yield kind
    elif isinstance(kind, inspect.StructType):
        yield from (field.type for field in kind.fields if field.encode_name == part)
    elif isinstance(kind, inspect.DictType):
        yield kind.value_type
    elif isinstance(kind, inspect.ListType | inspect.VarTupleType | inspect.SetType):
        yield kind.item_type


def _types(names: str) -> str:
    """`array | null` as "a list or null"; an uncommon type keeps its name."""
    plain = {name: Message(code) for name, code in _TYPES.items()} | {"null": "null"}
    return joined([plain.get(name, f"`{name}`") for name in names.split(" | ")], "one_or_other")


def _known(reason: str) -> Message | None:
    for pattern, code in _FAULTS.items():
        if match := re.fullmatch(pattern, reason):
            parts = match.groupdict()
            if names := parts.get("names"):  # alternatives of a regular expression
                parts["names"] = names.replace("\\", "").replace("|", ", ")
            return Message(code, **parts | {name: _types(parts[name]) for name in ("expected", "got") if name in parts})
    return None
