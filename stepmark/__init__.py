"""Stepmark as its wheel installs it: the client of the HTTP API, and in `app` the packages of the checkout."""

from stepmark.client import ApiError, Client, JobError
from stepmark.webhooks import WebhookError, verify_webhook

__all__ = ["ApiError", "Client", "JobError", "WebhookError", "verify_webhook"]
