"""Annotators in a closed loop: claim, submit, claim again, each with its own connection.

One thread drives all of them over plain sockets with prepared bytes, so that the client uses little of the machine that
it measures. The result has its share.
"""

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec
import numpy as np

from benchmarks.label_studio.work import Request, Side

LOST = 599
NO_CONTENT = 204


class Loop(msgspec.Struct):
    """The results of `seconds` of labelling: complete cycles, milliseconds of requests, and errors.

    A cycle is a task and the next one: two requests, or a submission that claims; then a claim has no times. `twice`
    counts tasks that two people got, `client_share` is the share of one core that the client used.
    """

    seconds: float
    cycles: int
    claim_p50: float
    claim_p95: float
    submit_p50: float
    submit_p95: float
    failed: int
    twice: int
    client_share: float

    @property
    def rate(self) -> float:
        """Cycles a second."""
        return self.cycles / self.seconds


class Connection:
    """One HTTP/1.1 connection of one person; opened again if the server has closed it."""

    def __init__(self, address: str, authorization: str) -> None:
        self._place = urlsplit(address)
        self._shared = (
            f"Host: {self._place.netloc}\r\nAuthorization: {authorization}\r\nContent-Type: application/json\r\n"
        )
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: Request) -> tuple[int, bytes]:
        """Status and body of the response; LOST if the server closes a new connection without one."""
        head = f"{request.method} {request.path} HTTP/1.1\r\n{self._shared}Content-Length: {len(request.body)}\r\n\r\n"
        sent = head.encode() + request.body
        if self._streams is not None:
            try:
                return await self._exchange(*self._streams, sent)
            except (asyncio.IncompleteReadError, ConnectionError):
                self.close()
        self._streams = await asyncio.open_connection(self._place.hostname, self._place.port, limit=1 << 20)
        try:
            return await self._exchange(*self._streams, sent)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.close()
            return LOST, b""

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sent: bytes
    ) -> tuple[int, bytes]:
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head[9:12])
        _, _, length = head.partition(b"content-length:")
        if status == NO_CONTENT:
            body = b""
        else:
            body = await (reader.readexactly(int(length.split(b"\r\n", 1)[0])) if length else _chunks(reader))
        if b"\r\nconnection: close" in head:
            self.close()
        return status, body


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def work(side: Side, project: str, *, people: int, warm_up: float, seconds: float, together: bool = False) -> Loop:
    """Let annotators label for `seconds` after the warm-up; `together`, a submission claims the next task.

    Raises SystemExit if the tasks run out.
    """
    return asyncio.run(_work(side, project, side.people[:people], warm_up, seconds, together))


async def _work(
    side: Side, project: str, people: Sequence[str], warm_up: float, seconds: float, together: bool
) -> Loop:
    begin = time.perf_counter() + warm_up
    end = begin + seconds
    claims: list[float] = []
    submissions: list[float] = []
    given: list[int] = []
    failed = 0

    async def annotate(authorization: str) -> None:
        nonlocal failed
        connection, claim = Connection(side.address, authorization), side.claim(project)
        task = None
        while (asked := time.perf_counter()) < end:
            if task is None:
                status, body = await connection.ask(claim)
                got = time.perf_counter()
                if status >= 300:
                    if status == 404:
                        raise SystemExit(f"{side.name} had no more tasks: {body[:200]!r}")
                    failed += 1
                    continue
                task = side.claimed(project, body, together=together)
                given.append(task.id)
                if begin <= asked and got <= end:
                    claims.append(got - asked)
            sent = time.perf_counter()
            status, body = await connection.ask(task.submit)
            done = time.perf_counter()
            task = None
            if status >= 300:
                failed += 1
                continue
            if begin <= asked and done <= end:
                submissions.append(done - sent)
            if together:
                task = side.claimed(project, body, together=True)
                given.append(task.id)
        connection.close()

    took = time.process_time()
    await asyncio.gather(*(annotate(person) for person in people))
    share = (time.process_time() - took) / (warm_up + seconds)
    if not submissions:
        raise SystemExit(f"{side.name} finished no cycle in {seconds:.0f} s.")
    claim, submit = (1000 * np.percentile(found or [0], (50, 95)) for found in (claims, submissions))
    return Loop(
        seconds, len(submissions), *map(float, claim), *map(float, submit), failed, len(given) - len(set(given)), share
    )
