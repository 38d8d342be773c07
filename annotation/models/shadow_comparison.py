from django.db import models

from annotation.models.project import Project
from annotation.models.snapshot import Snapshot
from annotation.models.training_run import TrainingRun


class ShadowComparison(models.Model):
    """What equal label-seconds of acquisition and of control taught two models that never served. Never changes.

    Both learned from the same start as well (`start_labels`) and were measured on the same revisions of the holdout.
    `gain` is acquisition minus control in ProcessBench F1 with its 95 % interval, `samples` some of its bootstrap
    draws. `generation` is the latest whose labels are in it. `estimates` are weighted by inclusion probabilities:
    one entry a generation, see `annotation.loop.proof.lane_estimates`.
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
    start_f1 = models.FloatField(null=True, help_text="Of a model that learned from the start alone.")
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
