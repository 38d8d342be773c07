from django.contrib.auth.models import User
from django.db import models

from annotation.models.example import Example, parse_examples
from annotation.models.project import Project


class GuidelineVersion(models.Model):
    """A version of a project's guidelines with their examples. Rows never change: an edit is the next version.

    Versions count from 1. The latest one applies.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="guideline_versions")
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown, shown in the workbench.")
    examples = models.JSONField(default=list, blank=True, help_text="Rated steps, shown with the guidelines.")
    created_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="guideline_version_number_once")]

    def __str__(self) -> str:
        return f"version {self.number} of the guidelines of {self.project}"

    @property
    def rated_examples(self) -> list[Example]:
        return parse_examples(self.examples)
