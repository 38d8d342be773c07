"""The common part of the two embedded servers: a process with its files and sockets, and its orderly stop."""

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

STOP_SECONDS = 20


@dataclass
class EmbeddedServer:
    """A server with its files in `data` that listens only on sockets in the folder `sockets`."""

    data: Path
    sockets: Path
    log: Path
    durable: bool = True
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    stop_signal: ClassVar[signal.Signals]
    kill_signal: ClassVar[signal.Signals]

    def run(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start the process; its output goes to its log."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        return self._process

    @property
    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Shut down in order, so that all committed data is on disk; kill the process after STOP_SECONDS."""
        if self._process is None:
            return
        self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(self.kill_signal)
            self._process.wait()
        self._process = None
