from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.models.job import Job, JobStage, StagedJob, one_live
from annotation.models.message_field import MessageField
from annotation.models.model_version import ModelVersion
from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


class RoundClock(models.Model):
    """The time up to which a project's schedule was processed, and the latest drift of its scores.

    A scheduled time after `looked_at` is still due, however long the scheduler was down.
    """

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.CASCADE, related_name="round_clock")
    looked_at = models.DateTimeField(null=True)
    drift = models.FloatField(null=True, help_text="Population stability index of the champion's scores.")
    drift_of = models.CharField(max_length=10, blank=True)
    drift_n = models.PositiveIntegerField(default=0)
    measured_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"clock of {self.project_id}"


class TrainingRun(StagedJob):
    """One pass through the stages of a round, from snapshot to the next generation.

    `reason` is a sentence about why it started. `failure` is the kind of failure (see
    `annotation.loop.rounds.failures`), `error` its message. The folder and log of a pruned run are deleted.
    """

    class Trigger(models.TextChoices):
        MANUAL = "manual", _("Manual")
        SCHEDULE = "schedule", _("Schedule")
        LABELS = "labels", _("Labels")
        DRIFT = "drift", _("Drift")
        IMPORT = "import", _("Import")

    KIND = "run"
    TASK = "rounds.advance"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="training_runs")
    number = models.PositiveIntegerField()
    trigger = models.CharField(max_length=10, choices=Trigger)
    reason = MessageField()
    seed = models.BigIntegerField()
    snapshot = models.ForeignKey(
        Snapshot, null=True, blank=True, on_delete=models.PROTECT, related_name="training_runs"
    )
    model_version = models.OneToOneField(
        ModelVersion, null=True, blank=True, on_delete=models.PROTECT, related_name="run"
    )
    pruned_at = models.DateTimeField(null=True, blank=True)

    class Meta(StagedJob.Meta):
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="training_run_number_once"),
            one_live("project", name="training_run_one_live_per_project"),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of {self.project} ({self.state})"

    @property
    def outcome(self) -> str:
        """The reason for a failure, the gate's verdict, or the reason why nothing was trained."""
        untrained = [stage.figure for stage in self.stages.all() if (stage.name, stage.state) == UNTRAINED]
        judged = self.model_version.gate.sentence if self.model_version and self.model_version.gate else ""
        return self.error or judged or next(iter(untrained), "")


class RunStage(JobStage):
    """One stage of a run."""

    class Name(models.TextChoices):
        SNAPSHOT = "snapshot", _("Snapshot")
        TRAIN = "train", _("Train")
        EVALUATE = "evaluate", _("Evaluate")
        GATE = "gate", _("Gate")
        PROMOTE = "promote", _("Promote")
        SCORE = "score", pgettext_lazy("stage", "Score")
        SELECT = "select", _("Select")
        SHADOW = "shadow", _("Shadow")

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="stages")
    name = models.CharField(max_length=10, choices=Name)

    class Meta(JobStage.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="run_stage_once")]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id} ({self.state})"


UNTRAINED = (RunStage.Name.TRAIN, RunStage.State.SKIPPED)


class RunPoint(models.Model):
    """A line of a run's log. Losses (nats per labelled step) and rates are only set during training."""

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


class ShadowComparison(models.Model):
    """Compares two models, trained on equal labelling time in acquisition and control, that never serve. Never changes.

    Both are also trained on the same `start_labels`, and are measured on the same revisions of the holdout. `gain` is
    acquisition minus control in ProcessBench F1, with its 95 % interval; `samples` are some of its bootstrap samples.
    `generation` is the latest with labels in the comparison. `estimates` are weighted by inclusion probabilities, one
    entry per generation; see `annotation.loop.proof.lane_estimates`.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="shadow_comparisons")
    run = models.OneToOneField(TrainingRun, on_delete=models.PROTECT, related_name="shadow_comparison")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="shadow_comparisons")
    generation = models.PositiveIntegerField()
    start_labels = models.PositiveIntegerField()
    acquisition_labels = models.PositiveIntegerField()
    control_labels = models.PositiveIntegerField()
    acquisition_seconds = models.FloatField()
    control_seconds = models.FloatField()
    start_f1 = models.FloatField(null=True, help_text="Of a model that was trained on the start labels only.")
    acquisition_f1 = models.FloatField()
    control_f1 = models.FloatField()
    gain = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    samples = models.JSONField(default=list)
    holdout_solutions = models.PositiveIntegerField()
    holdout_problems = models.PositiveIntegerField()
    estimates = models.JSONField(default=list)
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"acquisition against control up to generation {self.generation} of {self.project}"


class SimulationRun(Job):
    """A simulation on a labelled snapshot: what each acquisition function would have cost.

    `functions` are compared over `seeds` paired seeds with `budget` labelled solutions each. `progress` is a share,
    `result` the simulation's JSON report; its charts are in the run's folder.
    """

    KIND = "simulation"
    TASK = "rounds.simulate"
    QUEUE = "gpu"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="simulations")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="simulations")
    functions = models.JSONField()
    seeds = models.PositiveSmallIntegerField()
    budget = models.PositiveIntegerField()
    progress = models.FloatField(default=0)
    message = MessageField()
    result = models.JSONField(default=dict)

    class Meta(Job.Meta):
        constraints = [one_live("project", name="simulation_one_live_per_project")]

    @property
    def share(self) -> float | None:
        return self.progress

    def __str__(self) -> str:
        return f"simulation {self.pk} of {self.project} ({self.state})"
