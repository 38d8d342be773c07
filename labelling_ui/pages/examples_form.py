"""The rated examples beside a project's guidelines, as rows of its settings."""

from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.models import Project
from annotation.models.example import MOST_EXAMPLES

PREFIX = "examples"
LONGEST = 4000


def _text(rows: int, **named: Any) -> forms.CharField:
    return forms.CharField(max_length=LONGEST, widget=forms.Textarea({"rows": rows}), **named)


class ExampleForm(forms.Form):
    """One example; `Example` says what its fields are."""

    use_required_attribute = False

    rating = forms.ChoiceField(
        choices=[("good", _("good")), ("neutral", _("neutral")), ("bad", _("bad")), ("unsure", _("unsure"))],
        label=_("Rating"),
        initial="good",  # what an empty row is sent with
    )
    before = _text(2, required=False, label=_("What it follows"))
    step = _text(2, label=_("The step"))
    why = _text(2, required=False, label=_("Why"))


class ExampleRows(forms.BaseFormSet):
    """The examples of a project; a row that is left empty is none."""

    def examples(self) -> list[dict[str, str]]:
        names = ("rating", "step", "before", "why")
        rows = (form.cleaned_data for form in self.forms if form not in self.deleted_forms)
        return [{name: row[name] for name in names} for row in rows if row.get("step")]


Rows = forms.formset_factory(
    ExampleForm, formset=ExampleRows, extra=1, can_delete=True, max_num=MOST_EXAMPLES, validate_max=True
)


def example_rows(project: Project, sent: QueryDict | None) -> ExampleRows:
    """The rows as they are, or as they were sent."""
    return cast(ExampleRows, Rows(sent, prefix=PREFIX, initial=project.examples))


def were_sent(sent: QueryDict) -> bool:
    """Whether the page that was sent had the examples on it."""
    return f"{PREFIX}-TOTAL_FORMS" in sent
