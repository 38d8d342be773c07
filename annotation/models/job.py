from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Self

from django.contrib.auth.models import User
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.message_field import MessageField
from annotation.models.project import Project


class Job(models.Model):
    """Work that takes a while: a row that a worker takes up, and that tells how far it is and how it ended.

    How it lives is the same for every kind (`annotation.core.lifecycle`). `called` begins the names of its audit rows,
    which are about its `subject` and end with its `COUNTS`; `TASK` is sent to `QUEUE` when it may be taken up.
    `attempts` counts how often in succession a worker took it up without getting on.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    WORKED_ON = (State.QUEUED, State.RUNNING)  # a worker is or will be at it
    LIVE: ClassVar[tuple[str, ...]] = WORKED_ON
    TASK: ClassVar[str]
    QUEUE: ClassVar[str] = "default"
    COUNTS: ClassVar[tuple[str, ...]] = ()
    called: str
    project: models.ForeignKey[Project, Project]

    requested_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    cancel_requested = models.BooleanField(default=False, db_default=False)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    error = MessageField()
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["-id"]

    @property
    def live(self) -> bool:
        return self.state in self.LIVE

    @property
    def subject(self) -> models.Model:
        return self

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
