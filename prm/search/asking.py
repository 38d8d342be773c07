"""Questions and answers as JSON over HTTP: a busy or failing server is asked again, later each time."""

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx2
import msgspec

from prm.errors import PolicyError
from prm.faults import UNDECODABLE
from prm.messages import Message

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds between tries, doubled each time
BUSY = frozenset({408, 409, 425, 429})  # and every 5xx
EXCERPT = 300

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Server:
    """One server: `timeout` in seconds for a try, `retries` after the first, `concurrency` questions at a time."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 8,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise PolicyError(Message("not_a_server_address", url=url))
        self.url, self.retries, self.concurrency = url.rstrip("/"), retries, concurrency
        self._client = httpx2.Client(
            timeout=timeout,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            limits=httpx2.Limits(max_connections=concurrency),
        )

    def post(self, path: str, question: Any, kind: type[Answer]) -> Answer:
        """The answer to one question. Raises PolicyError with the last error of the server or the network."""
        body = msgspec.json.encode(question)
        headers = {"Content-Type": "application/json"}
        for tried in range(self.retries + 1):
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**tried) * random.uniform(0.5, 1.0)
            try:
                response = self._client.post(self.url + path, content=body, headers=headers)
            except httpx2.TransportError as error:
                fault = Message("server_error", url=self.url, path=path, error=str(error) or type(error).__name__)
            else:
                if response.status_code < 400:
                    return self._decoded(path, response.content, kind)
                fault = Message(
                    "server_status", url=self.url, path=path, code=response.status_code, answer=response.text[:EXCERPT]
                )
                if response.status_code < 500 and response.status_code not in BUSY:
                    break
                wait = _asked_to_wait(response.headers.get("Retry-After"), wait)
            if tried < self.retries:
                time.sleep(wait)
        raise PolicyError(fault)

    def each(self, ask: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """`ask(item)` of every item, in order, several at a time. The first error stops items that have not started."""
        if len(items) < 2:
            return [ask(item) for item in items]
        with ThreadPoolExecutor(self.concurrency) as pool:
            futures = [pool.submit(ask, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _decoded(self, path: str, content: bytes, kind: type[Answer]) -> Answer:
        try:
            return msgspec.json.decode(content, type=kind)
        except UNDECODABLE as error:
            raise PolicyError(Message("server_answer_unreadable", url=self.url, path=path, error=error)) from error


def _asked_to_wait(seconds: str | None, otherwise: float) -> float:
    """What Retry-After says in seconds; a date there is not read."""
    if seconds is None or not seconds.strip().isdecimal():
        return otherwise
    return min(LONGEST_WAIT, float(seconds))
