"""The periodic tasks of Celery beat, and the queue of each task that is not on the default one."""

from typing import Any

HOUR = 3600.0
# Seconds between two runs of each task.
_PERIODS = {
    "queue.expire_leases": 30.0,
    "jobs.sweep": 30.0,
    "webhooks.enqueue_due": 10.0,
    "webhooks.forget": HOUR,
    "intake.sweep_uploads": 30.0,
    "rounds.score_unscored": 60.0,
    "rounds.audit_champions": 600.0,
    "rounds.keep_models": HOUR,
    "rounds.check_scores": 24 * HOUR,
    "quality.start_due_fits": 600.0,
    "quality.watch": 60.0,
    "datasets.start_due_exports": 60.0,
    "sampling.open_generations": 10.0,
    "rounds.prune": HOUR,
    "rounds.start_due": 60.0,
    "serving.forget_scores": HOUR,
}
# A run that no worker has begun expires when the next one is due, or after an hour.
BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    task: {"task": task, "schedule": seconds, "options": {"expires": min(seconds, HOUR)}}
    for task, seconds in _PERIODS.items()
}
# Services name the queue of the tasks that they enqueue.
TASK_ROUTES = {"rounds.check_scores": {"queue": "score"}}
