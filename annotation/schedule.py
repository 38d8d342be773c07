"""The periodic tasks of Celery beat, and the queue of each task."""

BEAT_SCHEDULE = {
    "expire leases": {"task": "queue.expire_leases", "schedule": 30.0, "options": {"expires": 30}},
    "sweep stalled jobs": {"task": "jobs.sweep", "schedule": 30.0, "options": {"expires": 30}},
    "deliver to webhooks": {"task": "webhooks.enqueue_due", "schedule": 10.0, "options": {"expires": 10}},
    "forget deliveries": {"task": "webhooks.forget", "schedule": 3600.0, "options": {"expires": 3600}},
    "sweep uploads": {"task": "intake.sweep_uploads", "schedule": 30.0, "options": {"expires": 30}},
    "score new solutions": {"task": "rounds.score_unscored", "schedule": 60.0, "options": {"expires": 60}},
    "audit champions": {"task": "rounds.audit_champions", "schedule": 600.0, "options": {"expires": 600}},
    "keep models": {"task": "rounds.keep_models", "schedule": 3600.0, "options": {"expires": 3600}},
    "check stored scores": {"task": "rounds.check_scores", "schedule": 24 * 3600.0, "options": {"expires": 3600}},
    "start due fits": {"task": "quality.start_due_fits", "schedule": 600.0, "options": {"expires": 600}},
    "watch labels": {"task": "quality.watch", "schedule": 60.0, "options": {"expires": 60}},
    "start due exports": {"task": "datasets.start_due_exports", "schedule": 60.0, "options": {"expires": 60}},
    "open generations of samples": {"task": "sampling.open_generations", "schedule": 10.0, "options": {"expires": 10}},
    "prune old rounds": {"task": "rounds.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    "start due rounds": {"task": "rounds.start_due", "schedule": 60.0, "options": {"expires": 60}},
    "forget served scores": {"task": "serving.forget_scores", "schedule": 3600.0, "options": {"expires": 3600}},
}

# The stages of a round have a queue each, see annotation.loop.rounds.pipeline.
TASK_ROUTES = {
    "jobs.*": {"queue": "default"},
    "webhooks.*": {"queue": "default"},
    "queue.*": {"queue": "default"},
    "intake.*": {"queue": "default"},
    "quality.*": {"queue": "default"},
    "datasets.*": {"queue": "default"},
    "sampling.*": {"queue": "default"},
    "serving.forget_scores": {"queue": "default"},
    "rounds.score_unscored": {"queue": "default"},
    "rounds.check_scores": {"queue": "score"},
    "rounds.audit_champions": {"queue": "default"},
    "rounds.keep_models": {"queue": "default"},
    "rounds.start_due": {"queue": "default"},
    "rounds.prune": {"queue": "default"},
}
