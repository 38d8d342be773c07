from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.job import Job
from annotation.models.message_field import MessageField
from prm.messages import Message

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class JobStage(models.Model):
    """One stage of a job, with its times, its progress and the one figure that sums it up.

    A worker of `queue` does it; if an `optional` one fails, the job continues. `attempts` counts how
    often a worker took it up.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        SKIPPED = "skipped", _("Skipped")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    ENDED = (State.DONE, State.SKIPPED)

    name = models.CharField(max_length=10)
    order = models.PositiveSmallIntegerField()
    queue = models.CharField(max_length=10, default="default")
    optional = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    seconds = models.FloatField(default=0, help_text="Worked on it, over all attempts.")
    progress = models.FloatField(default=0, help_text="Share done, 0 to 1.")
    figure = MessageField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["order"]


class StagedJob(Job):
    """A job of several stages, one after the other, each on a queue of its own; see `annotation.core.stages`."""

    if TYPE_CHECKING:
        stages: RelatedManager[Any]

    class Meta(Job.Meta):
        abstract = True

    @property
    def stage(self) -> Any:
        """The first stage that has not ended; None after the last."""
        return self.stages.exclude(state__in=JobStage.ENDED).order_by("order").first()

    @property
    def queue(self) -> str:
        return self.stage.queue if self.stage else self.QUEUE

    @property
    def part(self) -> str:
        return self.stage.name if self.stage else ""

    @property
    def share(self) -> float | None:
        stages = list(self.stages.all())
        return sum(stage.progress for stage in stages) / len(stages) if stages else None

    def settle(self, state: str) -> str:
        """A cancelled job counts as done if only optional stages remain."""
        left, now = self.stages.exclude(state__in=JobStage.ENDED), timezone.now()
        if state == Job.State.CANCELLED:
            done = not left.filter(optional=False).exists()
            left.update(state=JobStage.State.CANCELLED, finished_at=now)
            return Job.State.DONE if done else state
        if state == Job.State.FAILED and (stage := self.stage):
            stage.state, stage.finished_at, stage.figure = JobStage.State.FAILED, now, Message("stage_figure_failed")
            stage.save(update_fields=["state", "finished_at", "figure"])
        return state

    def reopen(self) -> None:
        super().reopen()
        ended = self.stages.filter(state__in=[JobStage.State.FAILED, JobStage.State.CANCELLED])
        ended.update(state=JobStage.State.WAITING, figure="", progress=0, finished_at=None)
