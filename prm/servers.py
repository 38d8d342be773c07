"""JSON requests over HTTP, with retries and exponential back-off for a busy or failing server."""

import random
import ssl
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import httpx2
import msgspec

from prm.errors import PolicyError, PolicyOptionError, PRMError
from prm.faults import UNDECODABLE
from prm.messages import Message

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds between attempts, doubled each time
BUSY = frozenset({408, 409, 425, 429})  # and every 5xx
EXCERPT = 300
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)

Answer = TypeVar("Answer")
Item = TypeVar("Item")


class Unanswered(PolicyError):
    """A request was sent and not answered: the server may have worked on it."""


@cache
def trusted_certificates() -> ssl.SSLContext:
    """The certificates of this machine. Each client would read them for itself, for 30 ms."""
    return httpx2.create_ssl_context()


class Server:
    """One server: `timeout` in seconds of an attempt, `retries` after the first, and concurrent requests.

    Without `resend`, a request that the server may have answered is not repeated: the answer may have cost money. Every
    failure is raised as `error`.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 5,
        concurrency: int = 8,
        resend: bool = True,
        error: type[PRMError] = PolicyError,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            refusal = PolicyOptionError if error is PolicyError else error
            raise refusal(Message("not_a_server_address", url=url))
        self.url, self.timeout, self.retries, self.concurrency = url.rstrip("/"), timeout, retries, concurrency
        self._resend, self._error = resend, error
        self._client = httpx2.Client(
            verify=trusted_certificates(),
            timeout=timeout,
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            limits=httpx2.Limits(max_connections=concurrency),
        )

    def ask(self, path: str, kind: type[Answer], question: Any = None) -> Answer:
        """The response to a POST of the question as JSON, or to a GET; the error has the server's last response."""
        method, body = ("GET", None) if question is None else ("POST", msgspec.json.encode(question))
        headers = {"Content-Type": "application/json"}
        for tried in range(self.retries + 1):
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2**tried) * random.uniform(0.5, 1.0)
            try:
                response = self._client.request(method, self.url + path, content=body, headers=headers)
            except httpx2.TransportError as error:
                fault = self._unanswered(path, error)
                if not (self._resend or isinstance(error, UNSENT)):
                    raise Unanswered(fault) from error
            else:
                if response.status_code < 400:
                    try:
                        return msgspec.json.decode(response.content, type=kind)
                    except UNDECODABLE as error:
                        unreadable = Message("server_answer_unreadable", url=self.url, path=path, error=error)
                        raise self._error(unreadable) from error
                fault = Message(
                    "server_status", url=self.url, path=path, code=response.status_code, answer=response.text[:EXCERPT]
                )
                if response.status_code < 500 and response.status_code not in BUSY:
                    break
                retry_after = response.headers.get("Retry-After", "").strip()  # in seconds; a date is ignored
                wait = min(LONGEST_WAIT, float(retry_after)) if retry_after.isdecimal() else wait
            if tried < self.retries:
                time.sleep(wait)
        raise self._error(fault)

    def _unanswered(self, path: str, error: httpx2.TransportError) -> Message:
        if isinstance(error, httpx2.TimeoutException):
            return Message("server_timed_out", url=self.url, path=path, timeout=self.timeout)
        return Message("server_error", url=self.url, path=path, error=str(error) or type(error).__name__)

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
