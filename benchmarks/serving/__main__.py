"""python -m benchmarks.serving: latency and throughput of POST /api/v1/score on a platform that it starts.

Closed-loop clients send one solution per request to web and worker processes, which run as in `make run`. "one by one"
is a worker that takes one request at a time; "batched" takes all waiting requests, up to 64; "beside pool scoring"
does so while the same worker scores a pool.
"""

import argparse
import platform as machine
from pathlib import Path

import msgspec

from benchmarks.serving.load import Load, bodies_of, drive
from benchmarks.serving.platform import ROOT, prepared, running, score_pool, unscored

ALONE = "one by one"
WAYS = {ALONE: 1, "batched": 64, "beside pool scoring": 64}
WARM_UP = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--seconds", type=float, default=10.0, help="measured for each number of clients")
    parser.add_argument("--pool", type=int, default=10_000, help="solutions to be scored beside")
    parser.add_argument("--port", type=int, default=8160)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    found: list[Load] = []
    with prepared(ROOT / "var" / "benchmarks" / "serving", options.port) as (launch, secret):
        bodies = bodies_of(512)
        for way, batch in WAYS.items():
            with running(launch, batch=batch) as address:
                drive(way, address, secret, bodies, clients=2, warm_up=0, seconds=WARM_UP)
                if way == "beside pool scoring":
                    score_pool(options.pool)
                for clients in options.clients:
                    found.append(
                        drive(way, address, secret, bodies, clients=clients, warm_up=WARM_UP, seconds=options.seconds)
                    )
                    print(line(found[-1]), flush=True)
                if way == "beside pool scoring":
                    print(f"{unscored():,} of the pool were still to be scored at the end.")
    print(table(found))
    if options.json:
        told = {"machine": machine.processor() or machine.machine(), "loads": msgspec.to_builtins(found)}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(told)))


def line(one: Load) -> str:
    return (
        f"| {one.clients} | {one.way} | {one.rate:.1f} | {one.p50:,.0f} | {one.p95:,.0f} | {one.p99:,.0f} | "
        f"{one.refused} | {one.failed} |"
    )


def table(found: list[Load]) -> str:
    """The figures by number of clients, and the ratio of throughput with batching."""
    head = (
        "| clients | way | solutions/s | p50 ms | p95 ms | p99 ms | refused | failed | ratio |\n|---:|---|"
        + "---:|" * 7
    )
    alone = {one.clients: one.rate for one in found if one.way == ALONE}
    order = list(WAYS)
    rows = [
        f"{line(one)} {one.rate / alone[one.clients] if alone[one.clients] else float('nan'):.2f} |"
        for one in sorted(found, key=lambda one: (one.clients, order.index(one.way)))
    ]
    return "\n".join(["", head, *rows])


if __name__ == "__main__":
    main()
