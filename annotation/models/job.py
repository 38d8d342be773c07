from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Self

from django.apps import apps
from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.models.message_field import MessageField
from annotation.models.project import Project


def one_live(*fields: str, name: str) -> models.UniqueConstraint:
    """At most one job that is queued or running for each value of the fields."""
    live = models.Q(state__in=["queued", "running"])
    return models.UniqueConstraint(fields=fields, condition=live, name=name)


class Job(models.Model):
    """Background work: a row that a worker claims, with its progress and its end.

    Every kind has the same lifecycle (`annotation.core.lifecycle`). `called` begins the names of its audit rows,
    which are about its `subject` and end with its `COUNTS`; `TASK` is sent to its `queue` when it may be taken up.
    Of a `SHARED` one several workers may do a part at the same time. `attempts` counts how often in succession a
    worker took it up without getting on, `retries` how often a person let it go on. `failure` is the code of its error.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    WORKED_ON = (State.QUEUED, State.RUNNING)  # a worker is or will be at it
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
    def called(self) -> str:
        return self.KIND

    @property
    def live(self) -> bool:
        return self.state in self.LIVE

    @property
    def queue(self) -> str:
        """The queue whose workers take it up next."""
        return self.QUEUE

    @property
    def part(self) -> str:
        """What is done of it next: its stage; "" where it is of one piece."""
        return ""

    @property
    def subject(self) -> models.Model:
        return self

    @property
    def share(self) -> float | None:
        """How much of it is done, 0 to 1; None where that is not known."""
        return None

    @property
    def handled(self) -> int | None:
        """How many records, samples or solutions it has done; None if it does not count them."""
        return None

    @property
    def outcome(self) -> str:
        """A sentence on how it stands or ended; "" where its state says it all."""
        error: str = self.error
        return error

    @property
    def leftover(self) -> Path | None:
        """A file that nobody needs once it is over."""
        return None

    @classmethod
    def in_turn(cls) -> models.QuerySet[Self]:
        """Those that a worker is at, or may take up now."""
        return cls._default_manager.filter(state__in=cls.WORKED_ON)

    def following(self) -> Iterable["Job"]:
        """Those whose turn it is once this one is over."""
        return ()

    def settle(self, state: str) -> str:
        """Put its other rows in order as it ends with `state`; returns the state that it ends with after all."""
        return state

    def reopen(self) -> None:
        """Make it one that waits for a worker, with what is left of it. Saves nothing of its own row."""
        self.state, self.cancel_requested, self.attempts, self.failure, self.error = "queued", False, 0, "", ""
        self.heartbeat_at, self.finished_at = timezone.now(), None
