"""Reports on the terminal that a long step is still running."""

import time

REPORT_SECONDS = 10


class Progress:
    """Prints what is still running, and for how long, at most every REPORT_SECONDS."""

    def __init__(self) -> None:
        self._started = self._reported = time.monotonic()

    @property
    def seconds(self) -> float:
        """The time since the step started."""
        return time.monotonic() - self._started

    def report(self, what: str) -> None:
        """Print `what` with the time it has taken so far, unless the last line is recent."""
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS:
            self._reported = now
            print(f"{what} ({self.seconds:.0f} s so far)", flush=True)
