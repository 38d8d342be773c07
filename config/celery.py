"""The Celery application; its queues, routes and schedule are in the settings."""

import os

from celery import Celery
from celery.signals import worker_process_init, worker_ready

from annotation.serving.bootstep import Serving
from config.env import awaited_file
from config.memory import configure_allocator

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
# Django's checks import every page and resource, which takes half of a worker's start. Tests run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
app = Celery("stepmark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(Serving)


@worker_ready.connect  # type: ignore[untyped-decorator] # Celery ships no types
def report_ready(**_: object) -> None:
    """Create READY_FILE, for the process that started this worker."""
    if path := awaited_file("READY_FILE"):
        path.touch()


@worker_process_init.connect  # type: ignore[untyped-decorator] # Celery ships no types
def prepare_process(**_: object) -> None:
    """Make the processes of the default worker return memory. Workers with models use threads, and send no signal."""
    configure_allocator()
