"""A real HTTP server on the loopback address that answers as a script says, and counts what it answered."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROMPT_TOKENS, COMPLETION_TOKENS = 100, 20  # of each reply
Answer = str | int | list[str] | None  # texts; a status; None closes the connection without an answer
Script = Callable[[dict[str, Any], int], Answer]


class FakeEndpoint:
    """`script(request, number)` gives the answer to each request; `usage` False leaves out the token counts."""

    def __init__(self, script: Script) -> None:
        self.script, self.usage = script, True
        self.requests: list[dict[str, Any]] = []
        self.answered = 0  # what a provider would charge for
        self.flying = self.most_flying = 0
        self.lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with fake.lock:
                    number = len(fake.requests)
                    fake.requests.append(request)
                    fake.flying += 1
                    fake.most_flying = max(fake.most_flying, fake.flying)
                try:
                    answer = fake.script(request, number)
                finally:
                    with fake.lock:
                        fake.flying -= 1
                if answer is None:
                    self.close_connection = True
                    return
                if isinstance(answer, int):
                    self._send(answer, {"error": "refused"})
                    return
                with fake.lock:
                    fake.answered += 1
                texts = answer if isinstance(answer, list) else [answer]
                choices = [
                    {
                        "message": {"content": text.removesuffix("…")},
                        "finish_reason": "length" if text.endswith("…") else "stop",
                    }
                    for text in texts
                ]
                usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS * len(texts)}
                self._send(200, {"choices": choices, "usage": usage if fake.usage else None})

            def log_message(self, *_: object) -> None:
                """Do not log requests."""

            def _send(self, status: int, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(content)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    @property
    def messages(self) -> list[str]:
        """The first message of each request."""
        return [request["messages"][0]["content"] for request in self.requests]

    def entry(self, **named: Any) -> dict[str, Any]:
        """Its entry in POLICY_ENDPOINTS."""
        return {"url": self.url, "model": "fake-judge", **named}


@contextmanager
def fake_endpoint(script: Script) -> Iterator[FakeEndpoint]:
    fake = FakeEndpoint(script)
    threading.Thread(target=fake.server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield fake
    finally:
        fake.server.shutdown()
        fake.server.server_close()
