"""A Redis that hangs."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def mute_redis() -> Iterator[str]:
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"
