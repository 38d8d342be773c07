"""The library's errors: a code with values, and a one-line message in English.

Exit codes of the commands: 0 done, 1 failed, 2 invalid arguments or input, 4 cancelled.
"""

from collections.abc import Mapping
from typing import Any

from prm.messages import Message, Value


class PRMError(Exception):
    """The base of the library's errors, with the `exit_code` of its command.

    `code` and `values` are those of its message; they are empty for another library's text.
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.code = message.code if isinstance(message, Message) else ""
        self.values: Mapping[str, Value] = message.values if isinstance(message, Message) else {}


class DataError(PRMError):
    """Data that cannot be used; the message names file, line and field."""

    exit_code = 2


class FormatError(DataError):
    """A file of unknown format, or a table that does not match its mapping.

    Its `code` is stable and may cover several messages; `extra` has details for JSON.
    """

    def __init__(self, code: str, message: str, extra: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.extra = extra or {}


class ModelFileError(PRMError):
    """A model folder that is missing, corrupt, foreign, or of another format version."""

    exit_code = 2


class UnknownNameError(DataError):
    """A name that is not registered; the message lists the registered names."""


class ExtensionError(PRMError):
    """An extension package that cannot be used; the message names it."""

    exit_code = 2


class FolderInUseError(PRMError):
    """Another process is writing to the folder; the message names both."""


class TrainingError(PRMError):
    """Training cannot continue; the message names the batch."""


class ScoringError(PRMError):
    """Scoring that fails: a closed session, an unexpected response from a server, or too little memory."""


class Cancelled(PRMError):
    """Work that was stopped on request; a training run can resume from its checkpoint."""

    exit_code = 4


class PolicyError(PRMError):
    """A policy's or verifier's server that is unreachable, rejects a request, or returns an unexpected response."""


class PolicyOptionError(PolicyError, DataError):
    """An address, a prompt or a key that no server can be asked with; as the arguments of a command it is invalid."""
