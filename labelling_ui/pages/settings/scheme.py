"""The parts of the settings on what people are asked of a step, how the answers look, and the keys."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Project
from annotation.models.scheme import DEFAULT_KEYS, Look, Term
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


ANSWERS = {
    "good": gettext_lazy("Good"),
    "neutral": gettext_lazy("Neutral"),
    "bad": gettext_lazy("Bad"),
    "unsure": gettext_lazy("Unsure"),
}
COLOURS = {
    "blue": gettext_lazy("blue"),
    "teal": gettext_lazy("teal"),
    "green": gettext_lazy("green"),
    "yellow": gettext_lazy("yellow"),
    "orange": gettext_lazy("orange"),
    "red": gettext_lazy("red"),
    "purple": gettext_lazy("purple"),
    "grey": gettext_lazy("grey"),
}
KEYS = ANSWERS | {
    "next": gettext_lazy("Next step"),
    "previous": gettext_lazy("Previous step"),
    "first_error": gettext_lazy("First error here"),
    "no_error": gettext_lazy("No more errors"),
    "choose": gettext_lazy("Take this candidate"),
    "complete": gettext_lazy("The solution ends here"),
    "error_type": gettext_lazy("Type of error"),
    "progress": gettext_lazy("How far the solution had got"),
    "critique": gettext_lazy("What is wrong"),
    "own_step": gettext_lazy("A step of one’s own"),
    "clause": gettext_lazy("Clause of the policy"),
    "consistency": gettext_lazy("Contradicts an earlier step"),
    "redundant": gettext_lazy("Redundant"),
    "recovers": gettext_lazy("Recovers from an error"),
    "comment": gettext_lazy("Comment"),
    "mark": gettext_lazy("Mark in the text"),
    "flag": gettext_lazy("Flag"),
    "go_to": gettext_lazy("Go to a step"),
    "search": gettext_lazy("Search"),
    "undo": gettext_lazy("Undo (with Shift: redo)"),
    "skip": gettext_lazy("Skip"),
    "give_up": gettext_lazy("Give up"),
    "bad_problem": gettext_lazy("Bad problem"),
    "decide": gettext_lazy("Decide between versions"),
    "returned": gettext_lazy("What was sent back"),
    "reference": gettext_lazy("Reference"),
    "hint": gettext_lazy("Hint"),
    "guidelines": gettext_lazy("Guidelines"),
    "break": gettext_lazy("Break"),
    "keys": gettext_lazy("Keys"),
}


class AnswersPart(Part):
    """Names, colours and help of the answers."""

    heading = gettext_lazy("What the answers are called")
    layout = "columns by-three"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for answer, word in ANSWERS.items():
            label = {"answer": word}
            self.fields[f"name_{answer}"] = forms.CharField(
                required=False,
                max_length=40,
                label=gettext_lazy("%(answer)s is called") % label,
                widget=forms.TextInput({"placeholder": word}),
            )
            self.fields[f"colour_{answer}"] = forms.ChoiceField(
                required=False,
                choices=[("", gettext_lazy("as usual")), *COLOURS.items()],
                label=gettext_lazy("Its colour"),
            )
            self.fields[f"help_{answer}"] = forms.CharField(
                required=False, max_length=300, label=gettext_lazy("When to give it")
            )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for answer in ANSWERS:
            look: Look = getattr(project.label_scheme.answers, answer)
            values |= {f"name_{answer}": look.name, f"help_{answer}": look.help, f"colour_{answer}": look.colour or ""}
        return values

    def changes(self) -> dict[str, Any]:
        data = self.cleaned_data
        looks = {
            answer: {part: data[f"{part}_{answer}"] for part in ("name", "colour", "help") if data[f"{part}_{answer}"]}
            for answer in ANSWERS
        }
        return {"scheme": {"answers": {answer: look for answer, look in looks.items() if look}}}


class KeysPart(Part):
    """What every key stands for; an empty field is the usual key."""

    heading = gettext_lazy("Keys of the workbench")
    layout = "columns by-four"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for about, word in KEYS.items():
            self.fields[f"key_{about}"] = forms.CharField(
                required=False,
                max_length=1,
                label=word,
                widget=forms.TextInput({"placeholder": DEFAULT_KEYS[about], "size": 2, "autocapitalize": "off"}),
            )

    def clean(self) -> None:
        """No two things share a key; the domain refuses that too, but knows no names of them."""
        given = {about: self.cleaned_data.get(f"key_{about}") or DEFAULT_KEYS[about] for about in KEYS}
        for about, key in given.items():
            if self.cleaned_data.get(f"key_{about}") and (
                others := [o for o in KEYS if given[o] == key and o != about]
            ):
                told = _("This key stands for “%(other)s”: give one of them another key.") % {"other": KEYS[others[0]]}
                self.add_error(f"key_{about}", told)

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {f"key_{about}": key for about, key in project.label_scheme.keys.items()}

    def changes(self) -> dict[str, Any]:
        keys = {about: self.cleaned_data[f"key_{about}"] for about in KEYS}
        changed = {about: key for about, key in keys.items() if key and key != DEFAULT_KEYS[about]}
        return {"scheme": {"keys": changed}}
