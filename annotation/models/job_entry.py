from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.db import models

from annotation.models.job import Job
from annotation.models.project import Project


class JobEntry(models.Model):
    """A line of the list of jobs: what a job of any kind has in common with the others, from a view of the database."""

    key = models.CharField(primary_key=True, max_length=40)
    kind = models.CharField(max_length=10)
    job_id = models.BigIntegerField()
    project = models.ForeignKey(Project, on_delete=models.DO_NOTHING, related_name="jobs")
    requested_by = models.ForeignKey(User, null=True, on_delete=models.DO_NOTHING, related_name="+")
    state = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        managed = False
        ordering = ["-created_at", "-key"]
        verbose_name_plural = "job entries"

    def __str__(self) -> str:
        return f"{self.key} ({self.state})"

    @cached_property
    def job(self) -> Job:
        """The job itself."""
        model: Any = Job.kinds()[self.kind]
        job: Job = model.objects.select_related("project", "requested_by").get(pk=self.job_id)
        return job
