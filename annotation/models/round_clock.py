from django.db import models

from annotation.models.project import Project


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
