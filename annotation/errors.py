"""The errors that services raise and that the API presents as `{"code", "message", "extra"}`."""

from typing import Any


class DomainError(Exception):
    """A request that cannot be carried out; `message` says what happened and what to do.

    `code` is stable and machine-readable (`snake_case`); `extra` holds JSON-able details.
    """

    status = 400

    def __init__(self, code: str, message: str, extra: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
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
