"""Tells the person at the terminal that something is still going on."""

import time

TELL_SECONDS = 10


class Progress:
    """Prints every TELL_SECONDS what is still going on, and for how long."""

    def __init__(self) -> None:
        self._begun = self._told = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return time.monotonic() - self._begun

    def tell(self, what: str) -> None:
        """Print `what`, with the time it has taken so far, unless the last line is recent."""
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            print(f"{what} ({self.seconds:.0f} s so far)", flush=True)
