"""How gunicorn serves the web application; the command line adds the address and the number of processes."""

import time
from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from config.env import empty_metrics_folder, prepared_file

worker_class = "gthread"
timeout = 60
graceful_timeout = 5
keepalive = 30
control_socket_disable = True
# The application is loaded once, before the address is opened, and not by each process: on a slow machine that is the
# longest part of a start. One that cannot be loaded ends the server, with the reason as the end of its log.
preload_app = True
# Before the application is loaded: prometheus_client opens its files then.
empty_metrics_folder()


def on_starting(server: Any) -> None:
    """Wait between loading the application and opening the address, while `launch` brings the database up to date."""
    while (file := prepared_file()) and not file.exists():
        time.sleep(0.05)


def child_exit(server: Any, worker: Any) -> None:
    """Take the gauges of a process that ended out of the sums; its counters stay."""
    mark_process_dead(worker.pid)
