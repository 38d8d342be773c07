from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.annotation import Annotation
from annotation.models.endpoint_run import EndpointRun
from annotation.models.message_field import MessageField
from annotation.models.project import Membership, Project
from annotation.models.solution import Solution


def _money() -> models.DecimalField:
    return models.DecimalField(max_digits=18, decimal_places=9, default=0)


class JudgingRun(EndpointRun):
    """A run that labels solutions with a judge, or with Monte Carlo estimates of their prefixes.

    A judge's `prompt` contains "{problem}" and "{steps}", the prompt of rollouts "{problem}". `annotator` is the
    judge's membership, null for Monte Carlo. `chosen` is the filter of the solutions, empty in queue mode, and
    `left_out` counts those that it matches and that get no label, by reason. The budgets include calls in flight.
    `calls` are those with a reply. The prices per million tokens are those at the start. `reserved_tokens` and
    `reserved_cost` are the most that the calls in flight may use.
    """

    KIND = "judging"
    TASK = "judging.run"
    COUNTS = ("labelled", "failed_solutions", "calls", "prompt_tokens", "completion_tokens")

    class Method(models.TextChoices):
        JUDGE = "judge", _("Judge")
        MONTE_CARLO = "monte_carlo", _("Monte Carlo")

    class Mode(models.TextChoices):
        BATCH = "batch", _("a selection")
        QUEUE = "queue", _("the queue")

    class Search(models.TextChoices):
        ALL = "all", _("every prefix")
        FIRST_ERROR = "first", _("until the first error")
        BISECT = "bisect", _("binary search for the first error")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judging_runs")
    method = models.CharField(max_length=12, choices=Method)
    mode = models.CharField(max_length=6, choices=Mode, default=Mode.BATCH)
    template = models.CharField(max_length=20, blank=True)
    prompt_version = models.CharField(max_length=40)
    annotator = models.ForeignKey(
        Membership, null=True, blank=True, on_delete=models.PROTECT, related_name="judging_runs"
    )
    rollouts = models.PositiveSmallIntegerField(default=8, help_text="Rollouts from each prefix.")
    threshold = models.FloatField(default=0.0, help_text="A step is good if its share of right rollouts is above it.")
    search = models.CharField(max_length=8, choices=Search, default=Search.ALL)
    chosen = models.JSONField(default=dict, blank=True)
    left_out = models.JSONField(default=dict, blank=True)
    cost_budget = _money()
    prompt_price = _money()
    completion_price = _money()
    currency = models.CharField(max_length=3)

    solutions = models.PositiveIntegerField(default=0, help_text="How many solutions were chosen, or claimed so far.")
    labelled = models.PositiveIntegerField(default=0)
    failed_solutions = models.PositiveIntegerField(default=0)
    cost = _money()
    reserved_tokens = models.PositiveBigIntegerField(default=0)
    reserved_cost = _money()

    def __str__(self) -> str:
        return f"judging {self.pk} by {self.endpoint} ({self.state})"

    @property
    def share(self) -> float | None:
        return self.handled / self.solutions if self.solutions and self.mode == self.Mode.BATCH else None

    @property
    def handled(self) -> int:
        return self.labelled + self.failed_solutions

    @property
    def cost_per_label(self) -> Decimal | None:
        return self.cost / self.labelled if self.labelled else None


class JudgedSolution(models.Model):
    """A solution of a judging run, at its `position`; `error` is the reason for a missing label.

    Replies to calls before `first_attempt` do not count: the solution failed with them before the run was resumed.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey(JudgingRun, on_delete=models.CASCADE, related_name="judged")
    solution = models.ForeignKey(Solution, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    annotation = models.OneToOneField(
        Annotation, null=True, blank=True, on_delete=models.PROTECT, related_name="judged"
    )
    first_attempt = models.PositiveIntegerField(default=0)
    error = MessageField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["run", "solution"], name="judged_solution_once")]
        indexes = [models.Index(fields=["run", "state", "position"], name="judged_solution_next")]

    def __str__(self) -> str:
        return f"solution {self.solution_id} of {self.run}"


class JudgeCall(models.Model):
    """One request to an endpoint, with its replies: the ledger of a judging run.

    `prefix` is the number of steps that the request shows. While a call is in flight (`sent`), its tokens and cost are
    the most that it may use. A call that is `lost` got no usable answer, and the server may have worked on it: it
    counts with the most that it may have used, and so does a call that is not `metered`. A `failed` call cost nothing.
    `replies` are texts, each with `cut` if it reached the token limit; `right` counts the rollouts with a right answer.
    """

    class State(models.TextChoices):
        SENT = "sent", _("in flight")
        ANSWERED = "answered", _("answered")
        LOST = "lost", _("lost")
        FAILED = "failed", _("failed")

    judged = models.ForeignKey(JudgedSolution, on_delete=models.CASCADE, related_name="calls", db_index=False)
    prefix = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField(help_text="Its number among the calls for the solution, from 0.")
    samples = models.PositiveSmallIntegerField(default=1, help_text="How many replies it requests.")
    state = models.CharField(max_length=10, choices=State, default=State.SENT)
    metered = models.BooleanField(default=True)
    prompt_tokens = models.PositiveIntegerField()
    completion_tokens = models.PositiveIntegerField()
    cost = _money()
    replies = models.JSONField(default=list, blank=True)
    right = models.PositiveSmallIntegerField(null=True, blank=True)
    error = MessageField()
    sent_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["judged", "attempt"], name="judge_call_attempt_once"),
            models.CheckConstraint(condition=Q(samples__gte=1), name="judge_call_has_samples"),
        ]
        indexes = [models.Index(fields=["judged"], condition=Q(state="sent"), name="judge_call_in_flight")]

    def __str__(self) -> str:
        return f"call {self.attempt} for {self.judged}"

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def texts(self) -> list[str]:
        replies: list[dict[str, Any]] = self.replies
        return [reply["text"] for reply in replies]
