"""The settings of the label scheme: questions, answers and keys."""

from typing import Any

import msgspec
from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Project
from annotation.models.scheme import DEFAULT_KEYS, Look
from labelling_ui.pages.settings.part import Part


class TermsField(forms.CharField):
    """Terms, one per line: `name | explanation`. A line `# group` starts a group."""

    widget = forms.Textarea({"rows": 5})

    def clean(self, value: Any) -> list[dict[str, str]]:
        terms, group = [], ""
        for line in super().clean(value).splitlines():
            if line.startswith("#"):
                group = line.removeprefix("#").strip()
            elif line.strip():
                name, _, help_text = line.partition("|")
                term = {"name": name.strip(), "help": help_text.strip(), "group": group}
                terms.append({part: text for part, text in term.items() if text or part == "name"})
        return terms


class SchemePart(Part):
    """Fields of `LabelScheme`, each under its own name."""

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        values = {name: getattr(project.label_scheme, name) for name in cls.base_fields}
        terms = (name for name, field in cls.base_fields.items() if isinstance(field, TermsField))
        return values | {name: in_lines(msgspec.to_builtins(values[name])) for name in terms}

    def changes(self) -> dict[str, Any]:
        return {"scheme": self.cleaned_data}


class RatingPart(SchemePart):
    """The settings of rating."""

    heading = _("Rating")
    term = "rating"

    stop_at_first_error = forms.BooleanField(required=False, label=_("Stop at the first error"))
    rate_alternatives = forms.BooleanField(required=False, label=_("Rate alternative steps at the first error"))
    choose_path = forms.BooleanField(
        required=False,
        label=_("Let people choose the path"),
        help_text=_(
            "As in PRM800K phase 1: people rate candidates for each step and choose one, and the solution"
            " continues from it"
        ),
    )
    offer_neutral = forms.BooleanField(required=False, label=_("Offer “neutral”"))
    offer_unsure = forms.BooleanField(required=False, label=_("Offer “unsure”"))
    offer_accepting = forms.BooleanField(
        required=False,
        label=_("Accept several steps with one key"),
        help_text=_(
            "One key rates good all earlier steps, or all remaining steps, that were on screen. Without "
            "it, people rate every step individually."
        ),
    )
    reference = forms.ChoiceField(
        choices=[
            ("shown", _("shown")),
            ("on_request", _("on request")),
            ("hidden", _("hidden")),
        ],
        label=_("Reference answer"),
    )


class FirstErrorPart(SchemePart):
    """The questions at the first error."""

    heading = _("Questions at the first error")
    term = "first_error"

    ask_progress = forms.BooleanField(required=False, label=_("Ask how far the solution had progressed"))
    critique = forms.ChoiceField(
        choices=[
            ("none", _("not asked")),
            ("written", _("as free text")),
            ("given", _("by rating the imported explanations")),
        ],
        label=_("What is wrong with the step"),
        help_text=_("If no imported explanation is correct, people write one."),
    )
    ask_own_step = forms.BooleanField(required=False, label=_("Ask for a corrected step"))
    error_types = TermsField(
        required=False,
        label=_("Error types"),
        help_text=_(
            "One per line, with its meaning after a bar: slip | a small mistake in arithmetic. A line “# "
            "group” starts a group. Leave empty to ask for no error type."
        ),
    )


class BesidePart(SchemePart):
    """Further dimensions of a step."""

    heading = _("Further questions for each step")

    consistency = forms.BooleanField(required=False, label=_("Ask whether a step is consistent with earlier ones"))
    redundancy = forms.BooleanField(required=False, label=_("Ask whether a step is redundant"))
    recovery = forms.BooleanField(
        required=False,
        label=_("Ask whether a step recovers from an error"),
        help_text=_("For agent runs that continue after an error."),
    )
    policy_clauses = TermsField(
        required=False,
        label=_("Policy clauses"),
        help_text=_("One per line, with its text after a bar: 2.1 | Never delete without asking."),
    )


def in_lines(terms: list[dict[str, str]]) -> str:
    """The terms as `TermsField` reads them."""
    lines, group = [], ""
    for term in terms:
        if term.get("group", "") != group:
            group = term.get("group", "")
            lines.append(f"# {group}".rstrip())
        lines.append(f"{term['name']} | {term['help']}" if term.get("help") else term["name"])
    return "\n".join(lines)


ANSWERS = {
    "good": _("Good"),
    "neutral": _("Neutral"),
    "bad": _("Bad"),
    "unsure": _("Unsure"),
}
COLOURS = {
    "blue": _("blue"),
    "teal": _("teal"),
    "green": _("green"),
    "yellow": _("yellow"),
    "orange": _("orange"),
    "red": _("red"),
    "purple": _("purple"),
    "grey": _("grey"),
}
KEYS = ANSWERS | {
    "next": _("Next step"),
    "previous": _("Previous step"),
    "first_error": _("First error here"),
    "no_error": _("No more errors"),
    "choose": _("Continue with this candidate"),
    "complete": _("End the solution here"),
    "error_type": _("Type of error"),
    "progress": _("How far the solution got"),
    "critique": _("What is wrong with the step"),
    "own_step": _("Write the step yourself"),
    "clause": _("Policy clause"),
    "consistency": _("Contradicts an earlier step"),
    "redundant": _("Redundant"),
    "recovers": _("Recovers from an error"),
    "comment": _("Comment"),
    "mark": _("Mark text"),
    "flag": _("Flag"),
    "go_to": _("Go to a step"),
    "search": _("Search"),
    "undo": _("Undo (Shift: redo)"),
    "skip": _("Skip"),
    "give_up": _("Give up"),
    "bad_problem": _("Bad problem"),
    "decide": _("Decide between two versions"),
    "returned": _("Labels sent back"),
    "reference": _("Reference"),
    "hint": _("Hint"),
    "guidelines": _("Guidelines"),
    "break": _("Break"),
    "keys": _("Keys"),
}


class AnswersPart(Part):
    """Names, colours and help of the answers."""

    heading = _("Answers")
    layout = "columns by-three"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for answer, word in ANSWERS.items():
            label = {"answer": word}
            self.fields[f"name_{answer}"] = forms.CharField(
                required=False,
                max_length=40,
                label=_("Name for “%(answer)s”") % label,
                widget=forms.TextInput({"placeholder": word}),
            )
            self.fields[f"colour_{answer}"] = forms.ChoiceField(
                required=False,
                choices=[("", _("default")), *COLOURS.items()],
                label=_("Colour"),
            )
            self.fields[f"help_{answer}"] = forms.CharField(required=False, max_length=300, label=_("Help text"))

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
    """The key of each action; an empty field means the default key."""

    heading = _("Keyboard shortcuts")
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
        """Refuse a key used twice. The domain refuses it too, but without the actions' names."""
        chosen = {about: self.cleaned_data.get(f"key_{about}") or DEFAULT_KEYS[about] for about in KEYS}
        for about, key in chosen.items():
            if self.cleaned_data.get(f"key_{about}") and (
                others := [o for o in KEYS if chosen[o] == key and o != about]
            ):
                message = gettext(
                    "This key is already used for “%(other)s”. Choose a different key for one of them."
                ) % {"other": KEYS[others[0]]}
                self.add_error(f"key_{about}", message)

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {f"key_{about}": key for about, key in project.label_scheme.keys.items()}

    def changes(self) -> dict[str, Any]:
        keys = {about: self.cleaned_data[f"key_{about}"] for about in KEYS}
        changed = {about: key for about, key in keys.items() if key and key != DEFAULT_KEYS[about]}
        return {"scheme": {"keys": changed}}
