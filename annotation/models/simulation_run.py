from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


class SimulationRun(models.Model):
    """A fully labelled snapshot replayed: what each acquisition function would have cost.

    `functions` are compared over `seeds` paired seeds with `budget` labelled solutions each. `progress` is a share,
    `result` what the simulation wrote (JSON); its pictures lie in the run's folder.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    LIVE = (State.QUEUED, State.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="simulations")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="simulations")
    functions = models.JSONField()
    seeds = models.PositiveSmallIntegerField()
    budget = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    progress = models.FloatField(default=0)
    message = models.CharField(max_length=300, blank=True)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    requested_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project"],
                condition=Q(state__in=["queued", "running"]),
                name="simulation_one_live_per_project",
            )
        ]

    def __str__(self) -> str:
        return f"simulation {self.pk} of {self.project} ({self.state})"
