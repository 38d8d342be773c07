"""The parts of the settings that say what people are asked of a step."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Project
from annotation.models.scheme import Term
from labelling_ui.pages.settings.part import Part


class TermsField(forms.CharField):
    """Terms, one a line: `name | explanation`; a line `# group` names the group of those below it."""

    widget = forms.Textarea({"rows": 5})

    def clean(self, value: Any) -> list[dict[str, str]]:
        terms, group = [], ""
        for line in super().clean(value).splitlines():
            if line.startswith("#"):
                group = line.removeprefix("#").strip()
            elif line.strip():
                name, _, help_text = line.partition("|")
                term = {"name": name.strip(), "help": help_text.strip(), "group": group}
                terms.append({part: said for part, said in term.items() if said or part == "name"})
        return terms


class SchemePart(Part):
    """Fields of `LabelScheme`, each under its own name."""

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        values = {name: getattr(project.label_scheme, name) for name in cls.base_fields}
        terms = (name for name, field in cls.base_fields.items() if isinstance(field, TermsField))
        return values | {name: _in_lines(values[name]) for name in terms}

    def changes(self) -> dict[str, Any]:
        return {"scheme": self.cleaned_data}


class RatingPart(SchemePart):
    """How the steps are gone through."""

    heading = gettext_lazy("How people rate")

    stop_at_first_error = forms.BooleanField(required=False, label=gettext_lazy("Stop at the first error"))
    rate_alternatives = forms.BooleanField(required=False, label=gettext_lazy("Rate the alternatives at a position"))
    choose_path = forms.BooleanField(
        required=False,
        label=gettext_lazy("Let them choose the way at each position"),
        help_text=gettext_lazy("PRM800K phase 1: candidates are rated, one is taken, and the solution grows"),
    )
    offer_neutral = forms.BooleanField(required=False, label=gettext_lazy("A step can be neutral"))
    offer_unsure = forms.BooleanField(required=False, label=gettext_lazy("People may say that they cannot tell"))
    offer_accepting = forms.BooleanField(
        required=False,
        label=gettext_lazy("Steps may be accepted together"),
        help_text=gettext_lazy(
            "One key finds good what comes before the first error, or all that is left and was seen. "
            "Without it every step is rated by hand."
        ),
    )
    reference = forms.ChoiceField(
        choices=[
            ("shown", gettext_lazy("shown")),
            ("on_request", gettext_lazy("on request")),
            ("hidden", gettext_lazy("hidden")),
        ],
        label=gettext_lazy("Reference answer"),
    )


class FirstErrorPart(SchemePart):
    """What is wanted where the solution goes wrong."""

    heading = gettext_lazy("What is asked at the first error")

    ask_progress = forms.BooleanField(required=False, label=gettext_lazy("Ask how far the solution had got"))
    critique = forms.ChoiceField(
        choices=[
            ("none", gettext_lazy("not asked")),
            ("written", gettext_lazy("in words of their own")),
            ("given", gettext_lazy("by rating the explanations that came with the step")),
        ],
        label=gettext_lazy("What is wrong with the step"),
        help_text=gettext_lazy("where no explanation that came is good, one is written"),
    )
    ask_own_step = forms.BooleanField(required=False, label=gettext_lazy("Ask for a step of their own at the error"))
    error_types = TermsField(
        required=False,
        label=gettext_lazy("Error types"),
        help_text=gettext_lazy(
            "One a line, with what it means behind a bar: slip | a small mistake in arithmetic. "
            "A line # group names the group of those below it. Empty asks for none."
        ),
    )


class BesidePart(SchemePart):
    """Further dimensions of a step."""

    heading = gettext_lazy("What else is asked of a step")

    consistency = forms.BooleanField(
        required=False, label=gettext_lazy("Ask whether a step is consistent with earlier ones")
    )
    redundancy = forms.BooleanField(required=False, label=gettext_lazy("Ask whether a step is redundant"))
    recovery = forms.BooleanField(
        required=False,
        label=gettext_lazy("Ask whether a step recovers from an error"),
        help_text=gettext_lazy("for agent runs, where work goes on behind an error"),
    )
    policy_clauses = TermsField(
        required=False,
        label=gettext_lazy("Clauses of a policy that a step may break"),
        help_text=gettext_lazy("One a line, with its text behind a bar: 2.1 | Never delete without asking."),
    )


def _in_lines(terms: list[Term]) -> str:
    lines, group = [], ""
    for term in terms:
        if term.group != group:
            group = term.group
            lines.append(f"# {group}".rstrip())
        lines.append(f"{term.name} | {term.help}" if term.help else term.name)
    return "\n".join(lines)
