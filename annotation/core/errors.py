"""The errors that services raise and that the API presents as `{"code", "message", "extra"}`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotation.core.server_paths import without_roots
from prm.errors import FormatError
from prm.messages import Message


class DomainError(Exception):
    """A request that cannot be carried out; `message` says what happened and what to do.

    `code` is stable and machine-readable (`snake_case`): that of the message, unless several messages share one.
    `extra` holds JSON-able details. The message names no folder of the server.
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
    """What was named does not exist, or is not visible to the actor."""

    status = 404


class Conflict(DomainError):
    """The state has moved on since the actor last saw it."""

    status = 409


@contextmanager
def translated_format_errors() -> Iterator[None]:
    """Raise the library's FormatError as a DomainError of the same code."""
    try:
        yield
    except FormatError as error:
        raise DomainError(error.message, error.extra, code=error.code) from None
