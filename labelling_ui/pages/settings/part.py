"""What one part of a page of the settings is."""

from typing import Any, ClassVar

from django import forms

from annotation.models import Project


class Part(forms.Form):
    """Fields under one heading. The parts of a page are sent together, so no two of them share a field's name."""

    heading: ClassVar[Any]
    template = "labelling_ui/settings/part.html"
    layout = "columns"

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        """The fields as the project has them now, defaults filled in."""
        raise NotImplementedError

    def changes(self) -> dict[str, Any]:
        """What `change_project` takes; of `scheme` and `policy` what this part knows. Only of a valid part."""
        raise NotImplementedError

    def field_at(self, place: list[str]) -> str | None:
        """The field that stands for a place in the scheme or the policy, such as ["mix", "control"]; None: not here."""
        return next((name for name in reversed(place) if name in self.fields), None)
