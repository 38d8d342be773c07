"""Serves the sandbox's policies at an OpenAI-compatible address on this machine, for trying search and sampling.

`python -m prm.sandbox.endpoint --port 8765` serves the world's solvers, which know its problems and continue from any
steps (`sandbox-weak`, `sandbox-medium`, `sandbox-strong`; they ignore the temperature), and `tiny`, the embedded
backbone as a language model, which continues any text but solves poorly. `sandbox-judge` replies with a verdict on the
steps that a message tags with their numbers (`<step_0>`). It knows the right values and errs at random. Responses
contain no labels. A token is a word or a punctuation mark.
"""

import argparse
import json
import random
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

from prm.encoding import TEXT_SEPARATOR, parse_step, render_step
from prm.processes import use_half_the_cores
from prm.sandbox.judge import JudgePolicy
from prm.sandbox.solvers import SolverPolicy, UnknownProblem
from prm.sandbox.solving import Policy, Start
from prm.sandbox.world import GENERATORS
from prm.traces import Step

TINY, JUDGE = "tiny", "sandbox-judge"
MODELS = (*GENERATORS, TINY, JUDGE)
SEEDS = (0, 20261121)  # the default of `generate`, and the demo project's
MOST_CHOICES, MOST_BYTES = 128, 4 * 2**20


class Refused(Exception):
    """A rejected request; `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Message(msgspec.Struct):
    role: str
    content: str = ""


class Request(msgspec.Struct):
    """The fields of a request that are used; OpenAI's other fields are ignored."""

    model: str
    prompt: str | None = None
    messages: list[Message] = []
    n: int = 1
    max_tokens: int | None = None
    temperature: float = 1.0
    stop: str | list[str] | None = None
    seed: int | None = None

    @property
    def stops(self) -> list[str]:
        return [self.stop] if isinstance(self.stop, str) else self.stop or []


@dataclass
class Sandbox:
    """The policies. One request is answered at a time; `busy` is the share of new requests rejected with a 429."""

    busy: float = 0.0
    seeds: Sequence[int] = SEEDS
    rng: random.Random = field(default_factory=random.Random)
    lock: threading.Lock = field(default_factory=threading.Lock)
    rejected: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        known = SolverPolicy(GENERATORS["sandbox-medium"], seeds=self.seeds)
        self._solvers = {name: known.with_habits(habits) for name, habits in GENERATORS.items()}
        self._judge = JudgePolicy(known)
        self._backbone: Any = None

    def rejects(self, body: bytes) -> bool:
        """Whether the server is busy: never twice in a row for one request, so that every retry succeeds."""
        if body in self.rejected:
            self.rejected.discard(body)
            return False
        if self.rng.random() >= self.busy:
            return False
        self.rejected.add(body)
        return True

    def answer(self, request: Request, *, chat: bool) -> dict[str, Any]:
        """The response to a completion or chat request. Raises Refused."""
        if request.model not in MODELS:
            raise Refused(404, f"model {request.model!r} does not exist: choose one of {', '.join(MODELS)}")
        if not 1 <= request.n <= MOST_CHOICES:
            raise Refused(400, f"n is {request.n}: it must be from 1 to {MOST_CHOICES}")
        with self.lock:
            start = self._start(request, chat)
            seed = self.rng.getrandbits(31) if request.seed is None else request.seed
            try:
                written = self._policy(request).continue_from([start] * request.n, seed=seed)
            except UnknownProblem as error:
                raise Refused(400, str(error)) from error
        choices = [_choice(number, steps, request, chat) for number, steps in enumerate(written)]
        completion = sum(_tokens(_text_of(choice)) for choice in choices)
        prompt = _tokens(start.problem) + sum(_tokens(step.text) for step in start.steps)
        return {
            "id": f"sandbox-{self.rng.getrandbits(48):x}",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": request.model,
            "choices": choices,
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            },
        }

    def _policy(self, request: Request) -> Policy:
        if request.model == JUDGE:
            return self._judge
        if request.model != TINY:
            return self._solvers[request.model]
        from prm.backbones import load_backbone
        from prm.sandbox.policy import BackbonePolicy

        use_half_the_cores()
        self._backbone = self._backbone or load_backbone(TINY)
        return BackbonePolicy(
            self._backbone,
            temperature=max(request.temperature, 1e-3),
            most_tokens=min(request.max_tokens or 256, 256),
            one_step=TEXT_SEPARATOR in request.stops,
        )

    def _start(self, request: Request, chat: bool) -> Start:
        """The problem and the existing steps, which follow it in a prompt or are in an assistant message."""
        if chat:
            users = [message.content for message in request.messages if message.role == "user"]
            begun = [message.content for message in request.messages if message.role == "assistant"]
            if not users:
                raise Refused(400, "the request has no user message")
            return Start(self._problem(users[0], request.model), _steps("".join(begun)))
        text = request.prompt or ""
        problem = self._problem(text, request.model) if request.model != TINY else text.partition(TEXT_SEPARATOR)[0]
        return Start(problem, _steps(text.partition(problem)[2].partition(TEXT_SEPARATOR)[2]))

    def _problem(self, text: str, model: str) -> str:
        """The world's problem in the text; for the language model and the judge, the text itself."""
        if model in (TINY, JUDGE):
            return text
        problem = self._solvers[model].known_in(text)
        if problem is None:
            raise Refused(400, f"the text contains no problem of the sandbox: {text[:80]!r}")
        return problem


class Handler(BaseHTTPRequestHandler):
    """GET /v1/models, POST /v1/completions and /v1/chat/completions."""

    protocol_version = "HTTP/1.1"
    sandbox: Sandbox

    def do_GET(self) -> None:
        if self.path.rstrip("/") == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in MODELS]})
        else:
            self._refuse(Refused(404, f"not found: {self.path}"))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, MOST_BYTES))
        try:
            if self.path not in ("/v1/completions", "/v1/chat/completions"):
                raise Refused(404, f"not found: {self.path}")
            if length > MOST_BYTES:
                self.close_connection = True
                raise Refused(413, f"the request has more than {MOST_BYTES} bytes")
            if self.sandbox.rejects(body):
                raise Refused(429, "busy: try again")
            chat = self.path.endswith("/chat/completions")
            self._send(200, self.sandbox.answer(msgspec.json.decode(body, type=Request), chat=chat))
        except msgspec.DecodeError as error:
            self._refuse(Refused(400, str(error)))
        except Refused as error:
            self._refuse(error)

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests."""

    def _refuse(self, error: Refused) -> None:
        kind = "rate_limit_error" if error.status == 429 else "invalid_request_error"
        self._send(error.status, {"error": {"message": str(error), "type": kind, "code": error.status}})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)


def serve(*, port: int, busy: float = 0.0, seeds: Sequence[int] = SEEDS) -> ThreadingHTTPServer:
    """A server on the loopback address; port 0 selects a free port."""
    handler = type("SandboxHandler", (Handler,), {"sandbox": Sandbox(busy=busy, seeds=seeds)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


def _steps(text: str) -> list[Step]:
    return [parse_step(part.strip()) for part in text.split(TEXT_SEPARATOR) if part.strip()]


def _choice(number: int, steps: Sequence[Step], request: Request, chat: bool) -> dict[str, Any]:
    text = TEXT_SEPARATOR.join(render_step(step) for step in steps)
    if steps and request.model == TINY and TEXT_SEPARATOR in request.stops:
        text += TEXT_SEPARATOR  # it stopped after its first step
    places = [(text.find(stop), stop) for stop in request.stops if stop and stop in text]
    at, stopped = min(places, default=(len(text), None))
    text, finish = text[:at], "stop"
    if request.max_tokens is not None and _tokens(text) > request.max_tokens:
        text, finish, stopped = _cut(text, request.max_tokens), "length", None
    content: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    return content | {"index": number, "finish_reason": finish, "stop_reason": stopped, "logprobs": None}


WORD = re.compile(r"\w+|[^\w\s]")


def _tokens(text: str) -> int:
    return len(WORD.findall(text))


def _cut(text: str, tokens: int) -> str:
    ends = [match.end() for match in WORD.finditer(text)]
    return text[: ends[tokens - 1]] if tokens else ""


def _text_of(choice: dict[str, Any]) -> str:
    return str(choice["message"]["content"] if "message" in choice else choice["text"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m prm.sandbox.endpoint", description="Sandbox policies over HTTP.")
    parser.add_argument("--port", type=int, default=8765, help="0 selects a free port (default: 8765)")
    parser.add_argument("--busy", type=float, default=0.0, help="share of requests rejected once with a 429")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="seeds of the world's problems")
    options = parser.parse_args()
    server = serve(port=options.port, busy=options.busy, seeds=options.seeds)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1 serves {', '.join(MODELS)}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
