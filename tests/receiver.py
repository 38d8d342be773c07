"""A server that receives webhooks, and responds as the test wants."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


@dataclass
class Receiver:
    """What arrived at `url`, as headers and body; `status`, `headers` and `response` are sent back."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    response: bytes = b"thanks"
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver at a free port, with TLS by the context if there is one."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append((dict(self.headers), body))
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.response)))
            self.end_headers()
            self.wfile.write(receiver.response)

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    receiver.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}/hook"
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
