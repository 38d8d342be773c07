from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.message_field import MessageField
from annotation.models.project import Project
from prm.messages import Message

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


def one_live(*fields: str, name: str) -> models.UniqueConstraint:
    """A constraint: at most one queued or running job for each value of the fields."""
    live = models.Q(state__in=["queued", "running"])
    return models.UniqueConstraint(fields=fields, condition=live, name=name)


class Job(models.Model):
    """Background work: a row that a worker claims, with its progress and result.

    Every kind has the same lifecycle (`annotation.core.lifecycle`). `audit_name` is the prefix of its actions in the
    audit log, whose target is its `subject`; the last row has its `COUNTS`. `TASK` is sent to its `queue` when a worker
    may claim it. Several workers can do parts of a `SHARED` job at the same time. `attempts` counts successive claims
    without progress, `retries` how often a person resumed it. `failure` is the code of its error.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    WORKED_ON = (State.QUEUED, State.RUNNING)  # a worker has it, or will claim it
    LIVE: ClassVar[tuple[str, ...]] = WORKED_ON
    KIND: ClassVar[str]
    TASK: ClassVar[str]
    QUEUE: ClassVar[str] = "default"
    COUNTS: ClassVar[tuple[str, ...]] = ()
    SHARED: ClassVar[bool] = False
    project: models.ForeignKey[Project, Project]

    requested_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    cancel_requested = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    retries = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(max_length=40, blank=True)
    error = MessageField()
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    @staticmethod
    def kinds() -> dict[str, type["Job"]]:
        """The model of every kind of job."""
        return {model.KIND: model for model in apps.get_models() if issubclass(model, Job)}

    @property
    def audit_name(self) -> str:
        return self.KIND

    @property
    def live(self) -> bool:
        return self.state in self.LIVE

    @property
    def queue(self) -> str:
        """The queue whose workers claim it next."""
        return self.QUEUE

    @property
    def part(self) -> str:
        """The name of its next stage; "" for a job without stages."""
        return ""

    @property
    def subject(self) -> models.Model:
        return self

    @property
    def share(self) -> float | None:
        """The share that is done, 0 to 1; None if unknown."""
        return None

    @property
    def handled(self) -> int | None:
        """How many records, samples or solutions it has done; None if it does not count them."""
        return None

    @property
    def outcome(self) -> str:
        """A sentence about its progress or result; "" if there is nothing to add to its state."""
        error: str = self.error
        return error

    @property
    def leftover(self) -> str:
        """The key of a stored file to delete when the job has ended."""
        return ""

    @classmethod
    def in_turn(cls) -> models.QuerySet[Self]:
        """The jobs that a worker has, or may claim now."""
        return cls._default_manager.filter(state__in=cls.WORKED_ON)

    def following(self) -> Iterable["Job"]:
        """The jobs that workers may claim when this one has ended."""
        return ()

    def settle(self, state: str) -> str:
        """Update its other rows when it ends with `state`; returns its final state."""
        return state

    def reopen(self) -> None:
        """Queue the remaining work. Saves its other rows, but not its own."""
        self.state, self.cancel_requested, self.attempts, self.failure, self.error = "queued", False, 0, "", ""
        self.heartbeat_at, self.finished_at = timezone.now(), None


class CountedJob(Job):
    """A job whose progress is `done` of a `total`, which may be an estimate."""

    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)

    class Meta(Job.Meta):
        abstract = True

    @property
    def share(self) -> float | None:
        if self.state == self.State.DONE:
            return 1.0
        return min(self.done / self.total, 1.0) if self.total else None

    @property
    def handled(self) -> int:
        return self.done


class JobStage(models.Model):
    """One stage of a job, with its times, its progress and a figure that sums it up.

    A worker of `queue` runs it. If an `optional` stage fails, the job continues. `attempts` counts how often a worker
    started it.
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
        stage = self.stage
        return stage.queue if stage else self.QUEUE

    @property
    def part(self) -> str:
        stage = self.stage
        return stage.name if stage else ""

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


class JobEntry(models.Model):
    """A row of the list of all jobs, with the fields that every kind has; from a view of the database."""

    key = models.CharField(primary_key=True, max_length=40)
    kind = models.CharField(max_length=10)
    job_id = models.BigIntegerField()
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="jobs")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.DO_NOTHING, related_name="+")
    state = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        ordering = ["-created_at", "-key"]
        verbose_name_plural = "job entries"

    def __str__(self) -> str:
        return f"{self.key} ({self.state})"

    @cached_property
    def job(self) -> Job:
        """The job itself."""
        model: Any = Job.kinds()[self.kind]
        job: Job = model.objects.select_related("project", "requested_by").get(pk=self.job_id)
        return job
