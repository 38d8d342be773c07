from typing import cast

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.endpoint_run import EndpointRun
from annotation.models.generation import Generation
from annotation.models.job import Job
from annotation.models.message_field import MessageField
from annotation.models.project import Project
from annotation.models.solution import Problem
from prm.splitting import Splitting, Thinking


class SamplingRun(EndpointRun):
    """A run that samples solutions from a policy. Counts are of samples, unless their name says `problems`.

    `prompt` is the user's message and contains "{problem}".
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        SCORING = "scoring", _("Waiting for scores")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    LIVE = (*Job.WORKED_ON, State.SCORING)
    KIND = "sampling"
    TASK = "sampling.run"
    COUNTS = ("sampled", "accepted", "duplicates", "refused", "right", "wrong", "ungraded", "failed_problems")

    class Choice(models.TextChoices):
        ALL = "all", _("all")
        UNLABELLED = "unlabelled", _("those without a label")
        FEWEST = "fewest", _("those with the fewest solutions")
        UNCERTAIN = "uncertain", _("those the champion is least sure of")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sampling_runs")
    samples = models.PositiveIntegerField(default=4, help_text="Solutions sampled for each problem.")
    decomposition = models.CharField(max_length=40, default="blank_lines")
    thinking = models.CharField(max_length=10, default="separate")
    choice = models.CharField(max_length=10, choices=Choice, default=Choice.ALL)
    domain = models.CharField(max_length=100, blank=True)
    opens_generation = models.BooleanField(default=False)
    generation = models.OneToOneField(
        Generation, null=True, blank=True, on_delete=models.SET_NULL, related_name="sampling_run"
    )

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    problems = models.PositiveIntegerField(default=0, help_text="How many problems were chosen.")
    done_problems = models.PositiveIntegerField(default=0)
    failed_problems = models.PositiveIntegerField(default=0)
    sampled = models.PositiveIntegerField(default=0)
    accepted = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)
    wrong = models.PositiveIntegerField(default=0)
    ungraded = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"sampling {self.pk} from {self.endpoint} ({self.state})"

    @property
    def share(self) -> float | None:
        return (self.done_problems + self.failed_problems) / self.problems if self.problems else None

    @property
    def handled(self) -> int:
        return self.sampled

    @property
    def name(self) -> str:
        """The name of the run in the provenance of its solutions."""
        return f"sampling-{self.pk}"

    @property
    def splitting(self) -> Splitting:
        """How its samples are split into steps."""
        return Splitting(self.decomposition, cast(Thinking, self.thinking))


class SampledProblem(models.Model):
    """A chosen problem of a run, at its `position`; `error` is the reason for missing samples."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey(SamplingRun, on_delete=models.CASCADE, related_name="sampled_problems")
    problem = models.ForeignKey(Problem, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    accepted = models.PositiveIntegerField(default=0)
    error = MessageField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "problem"], name="sampled_problem_once")]
        indexes = [models.Index(fields=["run", "state", "position"], name="sampled_problem_next")]

    def __str__(self) -> str:
        return f"problem {self.problem_id} of {self.run}"
