"""The settings of the project itself, its guidelines and its examples."""

from functools import partial
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Project
from annotation.models.guideline_version import MOST_EXAMPLES, Example
from labelling_ui.pages.settings.guideline_history import VersionShown, versions_of
from labelling_ui.pages.settings.part import Part, PolicyPart, RowsPart
from labelling_ui.pages.struct_fields import struct_field
from labelling_ui.templatetags.answers import USUAL


class ProjectPart(Part):
    """The project's name."""

    heading = _("The project")
    template = "labelling_ui/settings/project.html"

    name = forms.CharField(max_length=200, label=_("Name"))

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {"name": project.name}

    def changes(self) -> dict[str, Any]:
        return {"name": self.cleaned_data["name"]}


class CardPart(PolicyPart):
    """The fields of `CardPolicy`; languages are words of a text."""

    heading = _("Dataset card")
    section = "card"
    note = _("Every dataset card of this project states this. Empty fields are shown as “not stated”.")

    licence = forms.CharField(
        required=False,
        label=_("Licence"),
        widget=forms.TextInput({"placeholder": "cc-by-4.0", "spellcheck": "false"}),
        help_text=_("The identifier on the Hugging Face Hub, such as cc-by-4.0 or apache-2.0."),
    )
    languages = forms.CharField(
        required=False,
        label=_("Languages"),
        widget=forms.TextInput({"placeholder": "en", "spellcheck": "false"}),
        help_text=_("Codes of the languages of the solutions, with blanks between them."),
    )
    annotator_training = forms.CharField(
        required=False,
        label=_("Training of the annotators"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Who labelled, and how they were trained."),
    )
    annotator_pay = forms.CharField(
        required=False,
        label=_("Pay of the annotators"),
        widget=forms.Textarea({"rows": 3}),
        help_text=_("For example the rate per hour, or that they are employees."),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        values = super().values(project)
        return values | {"languages": " ".join(values["languages"])}

    def clean_languages(self) -> list[str]:
        languages: list[str] = self.cleaned_data["languages"].replace(",", " ").split()
        return languages


class GuidelinesPart(Part):
    """The guidelines shown in the workbench."""

    heading = _("Guidelines")
    layout = "stack"

    guidelines = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 12}),
        label=_("Guidelines"),
        help_text=_("Markdown, shown beside the work."),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {"guidelines": project.current_guidelines.text}

    def changes(self) -> dict[str, Any]:
        return {"guidelines": self.cleaned_data["guidelines"]}


_text = partial(struct_field, Example, widget=forms.Textarea({"rows": 2}))


class ExampleForm(forms.Form):
    """One example, with the fields of `Example`."""

    use_required_attribute = False

    rating = forms.ChoiceField(
        choices=[(kind, name) for kind, (_sign, name, _value) in USUAL.items()],
        label=_("Rating"),
        initial="good",  # an empty row's values
    )
    before = _text("before", label=_("Preceding step"))
    step = _text("step", label=_("Step"))
    why = _text("why", label=_("Explanation"))


Rows = forms.formset_factory(ExampleForm, extra=1, can_delete=True, max_num=MOST_EXAMPLES, validate_max=True)


class ExamplesPart(RowsPart):
    """The examples below the guidelines, one per row. Empty rows are ignored."""

    heading = _("Examples")
    template = "labelling_ui/settings/examples.html"
    rows_type = Rows
    rows_name = "examples"

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {"examples": project.current_guidelines.examples}

    def changes(self) -> dict[str, Any]:
        rows = (form.cleaned_data for form in self.rows.forms if form not in self.rows.deleted_forms)
        names = Example.__struct_fields__
        return {"examples": [{name: row[name] for name in names} for row in rows if row.get("step")]}

    @property
    def versions(self) -> list[VersionShown]:
        """The versions of the guidelines, which include their examples."""
        return versions_of(self.project)
