"""Lets the worker of the `score` queue also answer scoring requests."""

from typing import Any

from celery import bootsteps

from annotation.core.structs import prepare_structs


class Serving(bootsteps.StartStopStep):  # type: ignore[misc] # Celery ships no types
    """Threads beside the worker's pool, in the process that holds the models."""

    requires = {"celery.worker.components:Pool"}

    def __init__(self, worker: Any, **options: Any) -> None:
        self.server: Any = None
        super().__init__(worker, **options)

    def include_if(self, worker: Any) -> bool:
        return "score" in worker.app.amqp.queues.consume_from

    def start(self, worker: Any) -> None:
        from annotation.serving.worker import Server

        prepare_structs()
        self.server = Server()
        self.server.start()

    def stop(self, worker: Any) -> None:
        if self.server is not None:
            self.server.stop()

    terminate = stop
