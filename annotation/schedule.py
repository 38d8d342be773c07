"""What beat starts, and which queue each task belongs to."""

BEAT_SCHEDULE = {
    "expire leases": {"task": "queue.expire_leases", "schedule": 30.0, "options": {"expires": 30}},
    "sweep stalled rounds": {"task": "rounds.sweep", "schedule": 30.0, "options": {"expires": 30}},
    "sweep stalled imports": {"task": "intake.sweep", "schedule": 30.0, "options": {"expires": 30}},
    "start due rounds": {"task": "rounds.start_due", "schedule": 60.0, "options": {"expires": 60}},
}

# A stage of a round names its queue when it is enqueued, see annotation.rounds.pipeline.
TASK_ROUTES = {
    "queue.*": {"queue": "default"},
    "intake.*": {"queue": "default"},
    "rounds.sweep": {"queue": "default"},
    "rounds.start_due": {"queue": "default"},
}
