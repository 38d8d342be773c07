"""How gunicorn serves the web application; the command line adds the address and the number of processes."""

import time
from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from config.env import awaited_file, empty_metrics_folder
from config.memory import configure_allocator

worker_class = "gthread"
timeout = 60
graceful_timeout = 5
keepalive = 30
control_socket_disable = True
# The application is loaded once, before the address is opened, and not by each process: on a slow machine this is the
# longest part of a start. If it cannot be loaded, the server ends, with the reason at the end of its log.
preload_app = True
# Before the application is loaded, because prometheus_client then opens its files.
empty_metrics_folder()
configure_allocator()


def on_starting(server: Any) -> None:
    """Wait until `launch` has migrated the database. The application is loaded, and the address is not open yet."""
    while (file := awaited_file("PREPARED_FILE")) and not file.exists():
        time.sleep(0.05)


def child_exit(server: Any, worker: Any) -> None:
    """Remove the gauges of an ended process from the sums; its counters stay."""
    mark_process_dead(worker.pid)
