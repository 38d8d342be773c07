from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.models.message_field import MessageField
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


class TrainingRun(models.Model):
    """One pass through the stages of a round, from snapshot to the next generation.

    `reason` says in a sentence why it began. `failure` names the kind of failure, see
    `annotation.loop.rounds.failures`; `error` says it. A pruned run's folder and log are gone.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    LIVE = (State.QUEUED, State.RUNNING)

    class Trigger(models.TextChoices):
        MANUAL = "manual", _("Manual")
        SCHEDULE = "schedule", _("Schedule")
        LABELS = "labels", _("Labels")
        DRIFT = "drift", _("Drift")
        IMPORT = "import", _("Import")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="training_runs")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    trigger = models.CharField(max_length=10, choices=Trigger)
    requested_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    reason = MessageField()
    seed = models.BigIntegerField()
    snapshot = models.ForeignKey(
        Snapshot, null=True, blank=True, on_delete=models.PROTECT, related_name="training_runs"
    )
    model_version = models.OneToOneField(
        ModelVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="run"
    )
    cancel_requested = models.BooleanField(default=False)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(max_length=40, blank=True)
    error = MessageField()
    retries = models.PositiveSmallIntegerField(default=0)
    pruned_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="training_run_number_once"),
            models.UniqueConstraint(
                fields=["project"],
                condition=Q(state__in=["queued", "running"]),
                name="training_run_one_live_per_project",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of {self.project} ({self.state})"


class RunStage(models.Model):
    """One stage of a run, with its times, its progress and the one figure that sums it up.

    `attempts` counts how often a worker took it up, `unanswered` how often in succession without a word of its end.
    """

    class Name(models.TextChoices):
        SNAPSHOT = "snapshot", _("Snapshot")
        TRAIN = "train", _("Train")
        EVALUATE = "evaluate", _("Evaluate")
        GATE = "gate", _("Gate")
        PROMOTE = "promote", _("Promote")
        SCORE = "score", pgettext_lazy("stage", "Score")
        SELECT = "select", _("Select")
        SHADOW = "shadow", _("Shadow")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        SKIPPED = "skipped", _("Skipped")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="stages")
    name = models.CharField(max_length=10, choices=Name)
    order = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    unanswered = models.PositiveSmallIntegerField(default=0)
    seconds = models.FloatField(default=0, help_text="Worked on it, over all attempts.")
    progress = models.FloatField(default=0, help_text="Share done, 0 to 1.")
    figure = MessageField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["order"]
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="run_stage_once")]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id} ({self.state})"


class RunPoint(models.Model):
    """One line of a run's log; losses (nats per labelled step) and rates are there while it trains."""

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="points")
    stage = models.CharField(max_length=10, choices=RunStage.Name)
    step = models.PositiveIntegerField(null=True)
    of = models.PositiveIntegerField(null=True)
    loss = models.FloatField(null=True)
    held_loss = models.FloatField(null=True)
    tokens_per_second = models.FloatField(null=True)
    utilisation = models.FloatField(null=True, help_text="Share of the device's peak arithmetic.")
    message = MessageField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.stage} {self.step}/{self.of}"
