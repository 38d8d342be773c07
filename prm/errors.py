"""The library's errors: a code with values, and a one-line message in English.

Exit codes of the commands: 0 done, 1 failed, 2 arguments or input that cannot be used, 4 cancelled.
"""

from collections.abc import Mapping
from typing import Any

from prm.messages import Message, Value


class PRMError(Exception):
    """Base of every error that the library raises on purpose, with the `exit_code` of its command.

    `code` and `values` are those of its message; empty for a text that another library wrote.
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
    """A file in no known format, or a table that cannot be read by its mapping.

    Its `code` is for several messages, and stable; `extra` holds JSON-able details.
    """

    def __init__(self, code: str, message: str, extra: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.extra = extra or {}


class ModelFileError(PRMError):
    """A model folder that is missing, corrupt, foreign, or of another format version."""

    exit_code = 2


class UnknownNameError(DataError):
    """A name that nothing is registered under; the message lists the names that exist."""


class ExtensionError(PRMError):
    """A package that adds to a registry and cannot be used; the message names it."""

    exit_code = 2


class FolderInUseError(PRMError):
    """Another process writes into the folder; the message names both."""


class TrainingError(PRMError):
    """Training cannot continue; the message names the batch."""


class ScoringError(PRMError):
    """Scoring that cannot be done as asked: a closed session, a server that answers something else, no memory."""


class Cancelled(PRMError):
    """Work stopped on request; a training run leaves a checkpoint to resume from."""

    exit_code = 4


class PolicyError(PRMError):
    """A policy's or a verifier's server that cannot be reached, refuses, or answers something else."""
