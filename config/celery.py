"""The Celery application; its queues, routes and schedule stand in the settings."""

from celery import Celery

from annotation.serving.bootstep import Serving
from config.env import select_settings

select_settings("config.settings.local")
app = Celery("stepmark")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(Serving)
