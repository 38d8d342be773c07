"""Single requests for the setup of the benchmark; the measured loops use `clients`."""

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any


class Refused(Exception):
    """A response other than success, with its `status`."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"{status}: {said[:500]}")
        self.status = status


class Door:
    """The HTTP API at `address` for one person, whom the header `Authorization` names."""

    def __init__(self, address: str, authorization: str) -> None:
        self.address, self.authorization = address.rstrip("/"), authorization

    def ask(
        self, method: str, path: str, body: Any = None, *, kind: str = "application/json", raw: bool = False
    ) -> Any:
        """The JSON of the response, its bytes with `raw`. Raises Refused."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}{path}", sent, self._headers(kind), method=method)
        try:
            with urllib.request.urlopen(request, timeout=3600) as answer:
                got = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode(errors="replace")) from None
        return got if raw or not got else json.loads(got)

    def stream(self, path: str) -> int:
        """Read a response without storing it; returns its size in bytes. Raises Refused."""
        request = urllib.request.Request(f"{self.address}{path}", headers=self._headers("application/json"))
        size = 0
        try:
            with urllib.request.urlopen(request, timeout=3600) as answer:
                while piece := answer.read(1 << 16):
                    size += len(piece)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode(errors="replace")) from None
        return size

    def status(self, method: str, path: str) -> int:
        """The status of a response."""
        try:
            self.ask(method, path, raw=True)
        except Refused as refused:
            return refused.status
        return 204 if method == "DELETE" else 200

    def _headers(self, kind: str) -> dict[str, str]:
        return {"Authorization": self.authorization, "Content-Type": kind}


def await_answer(address: str, *, seconds: float = 120) -> None:
    """Wait for a response. Raises SystemExit after the timeout."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
    raise SystemExit(f"{address} does not answer.")
