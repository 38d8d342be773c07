"""The error that ends a start, and the exit status of a command."""

import sys
from collections.abc import Callable


class LaunchError(Exception):
    """The start cannot continue; the message is one sentence that says what is wrong and what to do."""


def exit_status(command: Callable[[], object]) -> int:
    """Run a command; returns 0, or 1 after a LaunchError, whose sentence it prints to stderr."""
    try:
        command()
    except LaunchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
