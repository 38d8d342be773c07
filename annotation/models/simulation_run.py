from django.db import models

from annotation.models.job import Job, one_live
from annotation.models.message_field import MessageField
from annotation.models.project import Project
from annotation.models.snapshot import Snapshot


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
