from django.db import models

from annotation.models.project import Project
from annotation.models.snapshot import Snapshot
from annotation.models.training_run import TrainingRun


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
