"""Closed-loop clients: each sends its next request after the response to the last one."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec
import numpy as np


class Load(msgspec.Struct):
    """The results of `clients` in `seconds`; latencies are milliseconds of answered requests.

    `used` is what the meter counted in these seconds, per answered request.
    """

    way: str
    clients: int
    seconds: float
    answered: int
    refused: int
    failed: int
    mean: float
    p50: float
    p95: float
    p99: float
    used: dict[str, float] = {}

    @property
    def rate(self) -> float:
        """Solutions a second."""
        return self.answered / self.seconds


def drive(
    way: str,
    address: str,
    secret: str,
    bodies: Sequence[bytes],
    *,
    clients: int,
    warm_up: float,
    seconds: float,
    meter: Callable[[], dict[str, float]] = dict,
) -> Load:
    """Load the service with this number of clients, one solution per request, and measure after the warm-up.

    `meter` reads counters that only grow.
    """
    begin = time.monotonic() + warm_up
    end = begin + seconds
    latencies: list[list[float]] = [[] for _ in range(clients)]
    refused, failed = [0] * clients, [0] * clients
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def client(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        turn = number
        while (sent := time.monotonic()) < end:
            connection.request("POST", "/api/v1/score", bodies[turn % len(bodies)], headers)
            answer = connection.getresponse()
            answer.read()
            got = time.monotonic()
            turn += clients
            if answer.status == 429:
                refused[number] += 1
                time.sleep(float(answer.headers["Retry-After"]))
            elif begin <= got < end:
                if answer.status == 200:
                    latencies[number].append(1000 * (got - sent))
                else:
                    failed[number] += 1
        connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    time.sleep(warm_up)
    before = meter()
    time.sleep(max(0.0, end - time.monotonic()))
    after = meter()
    for thread in threads:
        thread.join()
    found = np.array([latency for each in latencies for latency in each]) if any(latencies) else np.zeros(1)
    p50, p95, p99 = np.percentile(found, (50, 95, 99))
    answered = sum(map(len, latencies))
    used = {name: (count - before.get(name, 0.0)) / max(1, answered) for name, count in after.items()}
    percentiles = (float(found.mean()), float(p50), float(p95), float(p99))
    return Load(way, clients, seconds, answered, sum(refused), sum(failed), *percentiles, used)


def solutions(n: int) -> list[Any]:
    """Sandbox solutions, all different."""
    from prm.sandbox.world import WorldConfig, generate

    return list(generate(WorldConfig(), split="holdout", n=n, seed=3))


def bodies_of(n: int) -> list[bytes]:
    """Requests with one of these solutions each."""
    return [
        json.dumps(
            {
                "project": "served",
                "problem": trace.problem,
                "steps": [{"text": step.text, "kind": step.kind} for step in trace.steps],
                "timeout": 50,
            }
        ).encode()
        for trace in solutions(n)
    ]
