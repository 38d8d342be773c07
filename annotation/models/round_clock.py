from django.db import models

from annotation.models.project import Project


class RoundClock(models.Model):
    """How far a project's schedule has been looked at, and the latest drift of its scores.

    A time of the schedule after `looked_at` is still to be dealt with, however long nobody looked.
    """

    project = models.OneToOneField(Project, primary_key=True, on_delete=models.CASCADE, related_name="round_clock")
    looked_at = models.DateTimeField(null=True)
    drift = models.FloatField(null=True, help_text="Population stability index of the champion's scores.")
    drift_of = models.CharField(max_length=10, blank=True)
    drift_n = models.PositiveIntegerField(default=0)
    measured_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"clock of {self.project_id}"
