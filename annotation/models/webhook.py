import uuid

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.message_field import MessageField
from annotation.models.project import Project


class Webhook(models.Model):
    """An address that receives a project's events.

    The secret is derived from the `salt` and SECRET_KEY, and not stored. `failing_since` is the time of the first
    failure after the last success. A webhook whose deliveries fail for days is disabled.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused")
        DISABLED = "disabled", _("Disabled after failures")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    salt = models.CharField(max_length=43)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    failing_since = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"webhook {self.pk} to {self.url}"


class WebhookDelivery(models.Model):
    """One event for one webhook, with the last response. It is written in the transaction of the event.

    `message_id` is the same in every attempt, so that a receiver recognises repetitions. While it waits, it is due at
    `next_attempt_at`; a worker that attempts it moves that time, so that no other does.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Failed")

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.UUIDField(default=uuid.uuid4, unique=True)
    event = models.CharField(max_length=60)
    body = models.TextField()
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    attempted_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="HTTP status of the last response.")
    response = models.TextField(blank=True, help_text="The beginning of the last response.")
    error = MessageField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=models.Q(state="waiting"), name="delivery_waiting_by_time"
            ),
            models.Index(fields=["created_at"], name="delivery_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.message_id} ({self.state})"
