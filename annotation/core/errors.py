"""The errors that services raise, which the API returns as `{"code", "message", "extra"}`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotation.core.server_paths import without_roots
from prm.errors import FormatError
from prm.messages import Message


class DomainError(Exception):
    """A request that cannot be carried out; `message` says what happened and what to do.

    `code` is stable and machine-readable (`snake_case`): the code of the message, unless several messages share one.
    `extra` holds details that can be encoded as JSON. Folders of the server are removed from the message.
    """

    status = 400

    def __init__(self, message: str, extra: dict[str, Any] | None = None, *, code: str = "") -> None:
        self.code = code or (message.code if isinstance(message, Message) else "")
        self.message = without_roots(message)
        super().__init__(self.message)
        self.extra = extra or {}


class Forbidden(DomainError):
    """The actor may not do this."""

    status = 403


class Missing(DomainError):
    """The object does not exist, or the actor may not see it."""

    status = 404


class Conflict(DomainError):
    """The request does not fit the current state of the object."""

    status = 409


@contextmanager
def translated_format_errors() -> Iterator[None]:
    """Raise the library's FormatError as a DomainError of the same code."""
    try:
        yield
    except FormatError as error:
        raise DomainError(error.message, error.extra, code=error.code) from None
