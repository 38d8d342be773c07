"""The one error that starting can end in, and how a command ends with it."""

import sys
from collections.abc import Callable


class LaunchError(Exception):
    """Starting cannot go on; the message is one sentence that says what is wrong and what to do."""


def exit_status(command: Callable[[], object]) -> int:
    """Run a command: 0, or 1 with the sentence on stderr."""
    try:
        command()
    except LaunchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
