"""Decodes request bodies and queries into structs, and encodes rows as structs."""

import json
import re
from collections.abc import Hashable
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any, ClassVar, Self, TypeVar, cast, get_args, get_origin

import msgspec
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

from annotation.core.bounds import invalid, read_choice, refuse_unstorable
from annotation.core.wording import in_words
from prm.faults import sentence_of
from prm.formats.reading import MAX_DEPTH, decoded, validation_fault

T = TypeVar("T")
# Escapes that may be a NUL or half a surrogate pair, which PostgreSQL cannot store.
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_PREPARING = Lock()  # two threads that prepare one struct crash the process (`annotation.core.structs`)


class Row(msgspec.Struct, kw_only=True):
    """The fields of a database row that the API returns. `paths` maps fields to attributes with another name."""

    paths: ClassVar[dict[str, str]] = {}

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        """The struct with the row's attributes and `others`. A foreign key becomes its id.

        A path such as `assigned_to.name` is null where one of its relations is.
        """
        stored = vars(row)
        values = {
            name: stored[f"{name}_id"] if f"{name}_id" in stored else getattr(row, name)
            for name in cls.__struct_fields__
            if name not in others and name not in cls.paths
        }
        values |= {name: _at(row, path) for name, path in cls.paths.items() if name not in others}
        return cls(**values, **others)


def read_body(request: Request, kind: type[T], *, any_text: bool = False) -> T:
    """The JSON body of a request as a struct; an empty body has every default.

    With `any_text`, the service itself rejects texts that the database cannot store. Raises DomainError (`invalid`,
    with the place in `extra.field`) and ParseError.
    """
    raw: bytes = request.data if isinstance(request.data, bytes) and request.data else b"{}"
    try:
        if _SUSPECT.search(raw):
            value = _parsed(raw)
            if any_text:
                with suppress(UnicodeEncodeError):  # a broken character in a place that the service does not read
                    return msgspec.convert(value, kind, dec_hook=read_choice)
            refuse_unstorable(value)
        if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
            decoded(raw)
        body: T = _decoder(cast(Hashable, kind)).decode(raw)
        return body
    except msgspec.ValidationError as error:
        raise invalid(*validation_fault(error, kind)) from None
    except RecursionError:
        message = _("The JSON of this request is nested more than %(n)s levels deep.") % {"n": MAX_DEPTH}
        raise ParseError(message) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(in_words(sentence_of(error, raw))) from None


def read_query(request: Request, kind: type[T]) -> T:
    """The query string of a request as a struct; a repeatable name is a list. Raises as `read_body`."""
    return _read_texts(request.query_params, kind)


def read_form(request: Request, kind: type[T]) -> T:
    """The fields and files of a form as a struct. Raises as `read_body`."""
    return _read_texts(request.data, kind)


def sent_fields(struct: msgspec.Struct) -> dict[str, Any]:
    """The fields of a body that the caller sent, without those that are UNSET."""
    return {name: value for name, value in msgspec.structs.asdict(struct).items() if value is not msgspec.UNSET}


def changes_of(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The struct of changes to `kind`, in which every field may be omitted."""
    fields = [(field.name, field.type | msgspec.UnsetType, msgspec.UNSET) for field in msgspec.structs.fields(kind)]
    manner = {"__doc__": "An omitted field keeps its value."}
    return msgspec.defstruct(f"{kind.__name__}Changes", fields, kw_only=True, namespace=manner)


def _at(row: Any, path: str) -> Any:
    for name in path.split("."):
        row = None if row is None else getattr(row, name)
    return row


def _read_texts(fields: Any, kind: type[T]) -> T:
    struct: Any = kind
    names = {field.encode_name: _is_list(field.type) for field in msgspec.structs.fields(struct)}
    sent = {name: fields.getlist(name) if many else fields[name] for name, many in names.items() if name in fields}
    refuse_unstorable(sent)
    try:
        return msgspec.convert(sent, kind, strict=False, dec_hook=read_choice)
    except msgspec.ValidationError as error:
        raise invalid(*validation_fault(error, kind)) from None


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is list or any(map(_is_list, get_args(kind)))


def _parsed(raw: bytes) -> Any:
    """The value decoded by Python, which accepts half surrogate pairs; msgspec reports the error if Python cannot."""
    try:
        return json.loads(raw)
    except ValueError:
        return msgspec.json.decode(raw)


@cache
def _decoder(kind: Any) -> Any:
    with _PREPARING:
        return msgspec.json.Decoder(kind, dec_hook=read_choice)
