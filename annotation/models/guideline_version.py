from typing import Annotated

import msgspec
from django.contrib.auth.models import User
from django.db import models

from annotation.core.bounds import about
from annotation.models.project import Project
from prm.vocabulary import Word

LONGEST = 4000
Text = Annotated[str, msgspec.Meta(max_length=LONGEST)]
MOST_EXAMPLES = 40


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """A step with its correct `rating`, shown with the guidelines: `before` is the preceding text, `why` the reason.

    Texts have the markup of steps: Markdown with formulas.
    """

    rating: Annotated[Word, about("The correct rating.")]
    step: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST, pattern=r"\S"), about("The step.")]
    before: Annotated[Text, about("The preceding text.")] = ""
    why: Annotated[Text, about("The reason for the rating.")] = ""


Examples = Annotated[list[Example], msgspec.Meta(max_length=MOST_EXAMPLES)]


def parse_examples(value: object) -> list[Example]:
    """The examples in a JSON value. Raises msgspec.ValidationError, which names the field."""
    examples: list[Example] = msgspec.convert(value, type=Examples)
    return examples


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
