"""The project itself, and what people read before they rate."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Project
from labelling_ui.pages.settings.part import Part


class ProjectPart(Part):
    """What the project is called."""

    heading = gettext_lazy("The project")
    template = "labelling_ui/settings/project.html"

    name = forms.CharField(max_length=200, label=gettext_lazy("Name"))

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {"name": project.name}

    def changes(self) -> dict[str, Any]:
        return {"name": self.cleaned_data["name"]}


class GuidelinesPart(Part):
    """What stands beside the work."""

    heading = gettext_lazy("Guidelines")
    layout = "stack"

    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 12}),
        label=gettext_lazy("Guidelines"),
        help_text=gettext_lazy("Markdown, shown beside the work."),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {"guidelines": project.guidelines}

    def changes(self) -> dict[str, Any]:
        return {"guidelines": self.cleaned_data["guidelines"]}
