"""Prints the table of parts for `benchmarks.cycle`, in a process of the measured checkout.

python benchmarks/cycle_parts.py PROJECT TOKEN
"""

import json
import os
import signal
import sys
import time
import uuid
from collections import Counter, defaultdict
from types import FrameType
from typing import Any

sys.path.insert(0, os.getcwd())

import django

django.setup()

import psycopg  # noqa: E402
from django.test import RequestFactory  # noqa: E402

from config.wsgi import application  # noqa: E402

CLOCK_SECONDS = 0.001
CYCLES, WARM_UP = 600, 50
# The innermost function of the stack whose file and name contain these decides.
PARTS = (
    ("connection: pool and its check", "psycopg_pool", ""),
    ("connection: pool and its check", "backends/postgresql/base.py", ""),
    ("middleware: metrics", "django_prometheus/middleware", ""),
    ("transaction: BEGIN, COMMIT", "django/db/transaction.py", ""),
    ("signed-in user", "api/authentication.py", ""),
    ("signed-in user", "membership/tokens.py", ""),
    ("session", "contrib/sessions", ""),
    ("calls per minute (Redis)", "api/limits.py", ""),
    ("project", "membership/access.py", ""),
    ("scheme and policy", "models/policy", ""),
    ("scheme and policy", "models/scheme.py", ""),
    ("membership (lock)", "claiming.py", "_attempt"),
    ("membership (lock)", "submission.py", "_lock"),
    ("screening", "gold/screening.py", ""),
    ("hidden gold", "gold/", ""),
    ("leases in hand, lanes (lock)", "claiming.py", "_situation"),
    ("take", "queue/item_choice.py", ""),
    ("take", "queue/turns.py", ""),
    ("rules", "queue/rules.py", ""),
    ("hint", "hint_draw.py", ""),
    ("audit row", "core/audit.py", ""),
    ("work and draft", "claiming.py", "_with_work"),
    ("steps and answer", "api/claims.py", ""),
    ("lease, item, earlier label and steps", "submission.py", "_submit_first"),
    ("lease, item, earlier label and steps", "submission.py", "_read_context"),
    ("validation", "labelling/validation.py", ""),
    ("validation", "labelling/scheme_", ""),
    ("lease and item (lock)", "queue/leases.py", "lock_rows"),
    ("places", "queue/leases.py", "end_lease"),
    ("annotation rows", "annotation_rows.py", ""),
    ("decode the body", "api/boundary.py", ""),
    ("decode the body", "api/parsing.py", ""),
    ("encode the answer", "api/rendering.py", ""),
    ("claim, other", "work/claiming.py", ""),
    ("submission, other", "labelling/submission.py", ""),
    ("routes, other", "annotation/api", ""),
    ("rest_framework", "rest_framework", ""),
    ("middleware: the others", "middleware", ""),
    ("middleware: the others", "config/", ""),
    ("Django: request, response, signals", "django/", ""),
)


def _part(frame: FrameType | None) -> str:
    while frame is not None:
        file, name = frame.f_code.co_filename, frame.f_code.co_qualname
        for part, path, function in PARTS:
            if path in file and function in name and "cycle_parts" not in file and "core/statements" not in file:
                return part
        frame = frame.f_back
    return "other"


class Meter:
    """Counts samples, statements and seconds of waiting for the database by part."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()
        self.statements: Counter[str] = Counter()
        self.database: dict[str, float] = defaultdict(float)

    def sample(self, _signal: int, frame: FrameType | None) -> None:
        self.samples[_part(frame)] += 1


def _request(body: Any, path: str, token: str) -> Any:
    made = RequestFactory().post(
        path, body, content_type="application/json", headers={"Authorization": f"Token {token}", "Host": "localhost"}
    )
    return made.environ


def _call(environ: dict[str, Any]) -> bytes:
    status = []
    answer = application(environ, lambda said, _headers: status.append(said))
    body = b"".join(answer)
    answer.close()  # type: ignore[attr-defined]
    assert status[0][0] == "2", (status, body)
    return body


def _submission(task: dict[str, Any], **others: Any) -> bytes:
    steps = [(at["position"], at["alternatives"][0]["id"]) for at in task["solution"]["steps"]]
    path = [
        {"position": place, "chosen": step, "ratings": [{"step": step, "state": "rated", "rating": 1}]}
        for place, step in steps
    ]
    return json.dumps(
        {
            "submission_id": str(uuid.uuid4()), "solution": task["solution"]["id"], "lease": task["lease"]["id"],
            "finish_reason": "solution", "total_ms": 60_000, "path": path, **others,
        }
    ).encode()  # fmt: skip


def main() -> None:
    project, token = sys.argv[1:]
    meters = {name: Meter() for name in ("claim", "submit", "submit and claim")}
    meter = Meter()
    execute, wait = psycopg.Cursor.execute, psycopg.Connection.wait

    def counted(cursor: Any, *args: Any, **named: Any) -> Any:
        meter.statements[_part(sys._getframe(1))] += 1
        return execute(cursor, *args, **named)

    def waited(connection: Any, *args: Any, **named: Any) -> Any:
        begun = time.perf_counter()
        try:
            return wait(connection, *args, **named)
        finally:
            part = _part(sys._getframe(1))
            meter.database[part] += time.perf_counter() - begun

    psycopg.Cursor.execute, psycopg.Connection.wait = counted, waited  # type: ignore[method-assign, assignment]
    took: Counter[str] = Counter()

    def measure(name: str, path: str, sent: bytes) -> Any:
        nonlocal meter
        meter = meters[name]
        environ = _request(sent, f"/api/v1/projects/{project}/{path}/", token)
        signal.signal(signal.SIGPROF, meter.sample)
        signal.setitimer(signal.ITIMER_PROF, CLOCK_SECONDS, CLOCK_SECONDS)
        begun = time.process_time()
        body = _call(environ)
        took[name] += time.process_time() - begun
        signal.setitimer(signal.ITIMER_PROF, 0)
        return json.loads(body)

    def begin() -> None:
        """Forget the warm-up."""
        took.clear()
        meters.update({name: Meter() for name in meters})

    for cycle in range(-WARM_UP, CYCLES):
        if cycle == 0:
            begin()
        measure("submit", "annotations", _submission(measure("claim", "claim", b"{}")["task"]))
    for name in ("claim", "submit"):
        _print(name, meters[name], 1000 * took[name] / CYCLES)

    begin()
    answer = measure("claim", "claim", b"{}")
    for _cycle in range(CYCLES):
        answer = measure("submit and claim", "annotations", _submission(answer["task"], holding=[])).get("next")
        if answer is None:  # an older checkout
            return
    _print("submit and claim", meters["submit and claim"], 1000 * took["submit and claim"] / CYCLES)


def _print(name: str, meter: Meter, ms: float) -> None:
    print(f"| {name} | statements | waiting ms | CPU ms |\n|---|---:|---:|---:|")
    samples = sum(meter.samples.values())
    for part in sorted(meter.samples | meter.statements, key=lambda part: -meter.samples[part]):
        statements, waited = meter.statements[part] / CYCLES, 1000 * meter.database[part] / CYCLES
        cells = [f"{statements:.1f}" if statements else "", f"{waited:.2f}" if waited else ""]
        print(f"| {part} | {' | '.join(cells)} | {ms * meter.samples[part] / samples:.2f} |")
    cells = [f"{sum(meter.statements.values()) / CYCLES:.1f}"]
    print(
        f"| all | {' | '.join(cells)} | {1000 * sum(meter.database.values()) / CYCLES:.2f} | {ms:.2f} |\n", flush=True
    )


if __name__ == "__main__":
    main()
