"""Scores over HTTP from one loaded model, with the requests and results of the platform's `/api/v1/score`."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

import msgspec

from prm.errors import PRMError
from prm.faults import UNDECODABLE, sentence_of
from prm.formats.reading import validation_fault
from prm.messages import Message
from prm.scores import Aggregate
from prm.scoring.scorer import Scorer
from prm.traces import Step, Trace
from prm.trust import Scored, judge

ADDRESS, HEALTH = "/api/v1/score", "/healthz"
MOST_BYTES = 10_000_000  # of a request
IDLE_SECONDS = 60


class Solution(msgspec.Struct, kw_only=True):
    """A solution to score; a step is a text, or a text with a kind."""

    problem: str
    steps: list[str | Step]


class OneSolution(Solution, kw_only=True):
    """A request with a solution in the body itself."""

    aggregate: Aggregate = "product"


class Solutions(msgspec.Struct, kw_only=True):
    """A request with several solutions."""

    solutions: list[Solution]
    aggregate: Aggregate = "product"


class Refused(Exception):
    """A request that gets an error as its response."""

    def __init__(self, status: int, code: str, message: str, **extra: str) -> None:
        super().__init__(message)
        self.status, self.code, self.extra = status, code, extra


class Handler(BaseHTTPRequestHandler):
    """POST ADDRESS and GET HEALTH."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    scorer: Scorer
    lock: Lock

    def do_GET(self) -> None:
        if self.path == HEALTH:
            self._send(200, {"status": "ok"})
        else:
            self._refuse(Refused(404, "not_found", f"GET {HEALTH} or POST {ADDRESS}"))

    def do_POST(self) -> None:
        try:
            self._send(200, self._answer(self._body()))
        except Refused as error:
            self._refuse(error)

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests."""

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self.close_connection = True  # the body is not read
            raise Refused(413, "too_large", f"Send at most {MOST_BYTES} bytes, with their number as Content-Length.")
        body = self.rfile.read(int(length))
        if self.path != ADDRESS:
            raise Refused(404, "not_found", f"GET {HEALTH} or POST {ADDRESS}")
        return body

    def _answer(self, body: bytes) -> dict[str, Any]:
        kind: type[Solutions | OneSolution] = OneSolution
        try:
            if "solutions" in msgspec.json.decode(body, type=dict[str, msgspec.Raw]):
                kind = Solutions
            question = msgspec.json.decode(body, type=kind)
        except msgspec.ValidationError as error:
            field, reason = validation_fault(error, kind)
            message = Message("field_reason", field=field, reason=reason) if field else reason
            raise Refused(400, "invalid", message, field=field) from None
        except UNDECODABLE as error:
            raise Refused(400, "invalid", sentence_of(error, body)) from None
        solutions = question.solutions if isinstance(question, Solutions) else [question]
        traces = [
            Trace("", one.problem, [s if isinstance(s, Step) else Step(s) for s in one.steps]) for one in solutions
        ]
        try:
            with self.lock:  # passes at the same time would share the same cores and memory
                scores = list(self.scorer.score(traces))
        except PRMError as error:
            raise Refused(500, "scoring_failed", str(error)) from None
        threshold, manifest = self.scorer.threshold, self.scorer.manifest
        trust = manifest.trust if manifest else None
        results = [_result(judge(score, question.aggregate, threshold, trust)) for score in scores]
        return {"model": {"threshold": threshold}, "aggregate": question.aggregate, "results": results}

    def _refuse(self, error: Refused) -> None:
        self._send(error.status, {"code": error.code, "message": str(error), "extra": error.extra})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = msgspec.json.encode(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _result(one: Scored) -> dict[str, Any]:
    return {
        "score": one.score,
        "steps": [{"mean": mean, "spread": spread} for mean, spread in zip(one.mean, one.spread, strict=True)],
        "first_suspicious": one.first_suspicious,
        "threshold": one.threshold,
        "uncertainty": one.uncertainty,
        "abstained": one.abstained,
        "out_of_domain": one.out_of_domain,
        "unscored_steps": one.mean.count(None),
    }


def scoring_server(scorer: Scorer, *, host: str = "127.0.0.1", port: int = 0) -> ThreadingHTTPServer:
    """A server that scores with this model, without authentication; port 0 selects a free one."""
    handler = type("BoundHandler", (Handler,), {"scorer": scorer, "lock": Lock()})
    return ThreadingHTTPServer((host, port), handler)
