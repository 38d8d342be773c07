"""A part of a settings page."""

from collections.abc import Mapping
from functools import reduce
from typing import Any, ClassVar

from django import forms
from django.http import QueryDict

from annotation.models import Project, ProjectPolicy
from labelling_ui.pages.struct_fields import limit_number


class Part(forms.Form):
    """Fields under one heading. The parts of a page are sent together, so no two of them share a field's name."""

    heading: ClassVar[Any]
    term: ClassVar[str] = ""  # the key of the heading in the glossary
    template = "labelling_ui/settings/part.html"
    layout = "columns"
    project: Project  # whose settings they are

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        """The current values of the fields, with defaults."""
        raise NotImplementedError

    def changes(self) -> dict[str, Any]:
        """The changes for `change_project`, from a valid part; of `scheme` and `policy` only its own fields."""
        raise NotImplementedError

    def field_at(self, place: list[str]) -> str | None:
        """The field for a path in the scheme or the policy, such as ["mix", "control"]; None if not in this part."""
        return next((name for name in reversed(place) if name in self.fields), None)


class RowsPart(Part):
    """A part with rows of fields, which are forms of `rows_type`; `rows_name` is their key in the values."""

    rows_type: ClassVar[type[forms.BaseFormSet]]
    rows_name: ClassVar[str]

    def __init__(self, data: QueryDict | None = None, *, initial: dict[str, Any]) -> None:
        super().__init__(data, initial=initial)
        self.rows: Any = self.rows_type(data, prefix=self.rows_name, initial=initial[self.rows_name])

    def is_valid(self) -> bool:
        return super().is_valid() and self.rows.is_valid()


class PolicyPart(Part):
    """Fields of the project's policy, under their names in `section`, or under the paths in `places`."""

    section: ClassVar[str] = ""
    places: ClassVar[Mapping[str, str]] = {}

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        for name, field in self.fields.items():
            if isinstance(field, forms.IntegerField):  # FloatField is one too
                limit_number(field, ProjectPolicy, self.place_of(name))

    @classmethod
    def place_of(cls, field: str) -> list[str]:
        """The path of a field in the policy, such as ["mix", "control"]."""
        return cls.places.get(field, f"{cls.section}.{field}".lstrip(".")).split(".")

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {name: reduce(getattr, cls.place_of(name), project.policies) for name in cls.base_fields}

    def changes(self) -> dict[str, Any]:
        policy: dict[str, Any] = {}
        for name in self.fields:
            *sections, last = self.place_of(name)
            reduce(lambda within, section: within.setdefault(section, {}), sections, policy)[last] = self.cleaned_data[
                name
            ]
        return {"policy": policy}

    def field_at(self, place: list[str]) -> str | None:
        """The field with the longest path that `place` begins with."""
        held = {name: self.place_of(name) for name in self.fields}
        fields = [name for name, at in held.items() if place[: len(at)] == at]
        return max(fields, key=lambda name: len(held[name]), default=None)
