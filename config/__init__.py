"""Wiring only: settings, addresses, the Celery and WSGI applications."""

import gc

from config.celery import app as celery_app

__all__ = ["celery_app"]

# Until `annotation.apps` is ready: a tenth of a start would be spent looking for garbage among imports.
gc.disable()
