"""Types of values in requests and responses, with the bounds of what the database can store."""

import re
from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta

LONGEST_TEXT = 20_000
LARGEST_INTEGER = 2**31 - 1

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
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
