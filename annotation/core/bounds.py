"""Types of values in requests and responses, with the bounds of what the database can store, and their check."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from annotation.core.errors import DomainError
from prm.formats.reading import place_of_unstorable, validation_fault
from prm.messages import Message

LONGEST_TEXT = 20_000
LARGEST_INTEGER = 2**31 - 1

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Money = Annotated[float, Meta(ge=0)]
Position = Annotated[int, Meta(ge=0, le=LARGEST_INTEGER)]
Milliseconds = Annotated[int, Meta(ge=0, le=2**53 - 1)]
FirstError = Annotated[int, Meta(ge=-1, le=LARGEST_INTEGER)]
Note = Annotated[str, Meta(max_length=LONGEST_TEXT)]
ShortNote = Annotated[str, Meta(max_length=100)]
JSONObject = Annotated[dict[str, Any], Meta(extra_json_schema={"additionalProperties": {}})]
NonBlank = Annotated[str, Meta(min_length=1, pattern=r"\S")]


def about(text: str) -> Meta:
    """The description of a field or of a query parameter in the API."""
    return Meta(description=text)


def one_of(names: Iterable[str]) -> Meta:
    """A constraint that a text is one of these names; for names from a registry, which are known only at run time."""
    known = list(names)
    return Meta(pattern=f"^(?:{'|'.join(map(re.escape, known))})$", extra_json_schema={"enum": known})


def check_fields(struct: msgspec.Struct, *, code: str) -> None:
    """Raise DomainError (`code`), which names the first field outside the bounds of its type."""
    try:
        msgspec.convert(msgspec.structs.asdict(struct), type(struct), dec_hook=read_choice)
    except msgspec.ValidationError as error:
        raise invalid(*validation_fault(error, type(struct)), code=code) from None


def refuse_unstorable(value: Any) -> None:
    """Raise DomainError (`invalid`) if a text in the value has a NUL or half a surrogate pair."""
    if (place := place_of_unstorable(value)) is not None:
        raise invalid(place, Message("text_not_storable"))


def invalid(field: str, reason: str, *, code: str = "invalid") -> DomainError:
    """The error for one place in a request, such as `path[1].ratings[0].rating`."""
    message = Message("field_reason", field=field, reason=reason) if field else reason
    return DomainError(message, {"field": field}, code=code)


def read_choice(kind: type[Any], value: Any) -> Any:
    """Convert a value to one of Django's choices, which msgspec does not treat as an enumeration."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(map(str, kind.values))
        raise ValueError(Message("word_not_known", known=known, word=value)) from None
