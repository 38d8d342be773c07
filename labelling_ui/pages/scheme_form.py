"""The part of a project's settings that says what people are asked of a step, and how the answers look."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models.scheme import DEFAULT_KEYS, LabelScheme, Look, Term

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
KEYS = {
    "next": gettext_lazy("Next step"),
    "previous": gettext_lazy("Previous step"),
    "first_error": gettext_lazy("First error here"),
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
    "search": gettext_lazy("Search"),
    "undo": gettext_lazy("Undo (with Shift: redo)"),
    "skip": gettext_lazy("Skip"),
    "decide": gettext_lazy("Decide between versions"),
    "reference": gettext_lazy("Reference"),
    "hint": gettext_lazy("Hint"),
    "guidelines": gettext_lazy("Guidelines"),
    "break": gettext_lazy("Break"),
    "keys": gettext_lazy("Keys"),
}


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


class SchemeFields(forms.Form):
    """The fields of `LabelScheme`; names, colours and keys of the answers are added to them one by one."""

    stop_at_first_error = forms.BooleanField(required=False, label=gettext_lazy("Stop at the first error"))
    rate_alternatives = forms.BooleanField(required=False, label=gettext_lazy("Rate the alternatives at a position"))
    choose_path = forms.BooleanField(
        required=False,
        label=gettext_lazy("Let them choose the way at each position"),
        help_text=gettext_lazy("PRM800K phase 1: candidates are rated, one is taken, and the solution grows"),
    )
    offer_neutral = forms.BooleanField(required=False, label=gettext_lazy("A step can be neutral"))
    offer_unsure = forms.BooleanField(required=False, label=gettext_lazy("People may say that they cannot tell"))
    reference = forms.ChoiceField(
        choices=[
            ("shown", gettext_lazy("shown")),
            ("on_request", gettext_lazy("on request")),
            ("hidden", gettext_lazy("hidden")),
        ],
        label=gettext_lazy("Reference answer"),
    )

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

    rating = ("stop_at_first_error", "rate_alternatives", "choose_path", "offer_neutral", "offer_unsure", "reference")
    at_error = ("ask_progress", "critique", "ask_own_step", "error_types")
    beside = ("consistency", "redundancy", "recovery", "policy_clauses")
    looks = tuple(f"{part}_{answer}" for answer in ANSWERS for part in ("name", "key", "colour", "help"))
    further_keys = tuple(f"key_{about}" for about in KEYS)

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
            self.fields[f"key_{answer}"] = _key(answer, gettext_lazy("Its key"))
            self.fields[f"colour_{answer}"] = forms.ChoiceField(
                required=False,
                choices=[("", gettext_lazy("as usual")), *COLOURS.items()],
                label=gettext_lazy("Its colour"),
            )
            self.fields[f"help_{answer}"] = forms.CharField(
                required=False, max_length=300, label=gettext_lazy("When to give it")
            )
        for about, word in KEYS.items():
            self.fields[f"key_{about}"] = _key(about, word)

    def label_scheme(self) -> dict[str, Any]:
        """The scheme as it is stored; only of a valid form."""
        data = self.cleaned_data
        scheme = {name: data[name] for name in (*self.rating, *self.at_error, *self.beside)}
        looks = {
            answer: {part: data[f"{part}_{answer}"] for part in ("name", "colour", "help") if data[f"{part}_{answer}"]}
            for answer in ANSWERS
        }
        keys = {about: data[f"key_{about}"] for about in DEFAULT_KEYS}
        return scheme | {
            "answers": {answer: look for answer, look in looks.items() if look},
            "keys": {about: key for about, key in keys.items() if key and key != DEFAULT_KEYS[about]},
        }


def scheme_initial(scheme: LabelScheme) -> dict[str, Any]:
    """The form's fields as the project has them now."""
    names = (*SchemeFields.rating, *SchemeFields.at_error, *SchemeFields.beside)
    values = {name: getattr(scheme, name) for name in names}
    values |= {name: _in_lines(values[name]) for name in ("error_types", "policy_clauses")}
    for answer in ANSWERS:
        look: Look = getattr(scheme.answers, answer)
        values |= {f"name_{answer}": look.name, f"help_{answer}": look.help, f"colour_{answer}": look.colour or ""}
    return values | {f"key_{about}": key for about, key in scheme.keys.items()}


def _key(about: str, label: Any) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=1,
        label=label,
        widget=forms.TextInput({"placeholder": DEFAULT_KEYS[about], "size": 2, "autocapitalize": "off"}),
    )


def _in_lines(terms: list[Term]) -> str:
    lines, group = [], ""
    for term in terms:
        if term.group != group:
            group = term.group
            lines.append(f"# {group}".rstrip())
        lines.append(f"{term.name} | {term.help}" if term.help else term.name)
    return "\n".join(lines)
