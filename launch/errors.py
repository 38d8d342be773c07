"""The one error that starting can end in."""


class LaunchError(Exception):
    """Starting cannot go on; the message is one sentence that says what is wrong and what to do."""
