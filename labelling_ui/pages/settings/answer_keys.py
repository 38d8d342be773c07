"""The parts of the settings that say how the answers look, and which key stands for what."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Project
from annotation.models.scheme import DEFAULT_KEYS, Look
from labelling_ui.pages.settings.part import Part

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
